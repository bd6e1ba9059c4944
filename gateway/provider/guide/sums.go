package guide

import (
	"errors"
	"math/big"
	"strings"
)

const (
	maxTerm   = 200  // bytes of a sum
	maxNested = 50   // parentheses and signs inside each other
	maxBits   = 4096 // of a number on the way
)

var errSum = errors.New("not a sum")

// sumIn finds a sum in a message: "2+2", "what is 15% of 80?". ok is false
// when the message is anything else, or only a number.
func sumIn(text string) (term, result string, ok bool) {
	if len(text) > maxTerm {
		return "", "", false
	}
	q := strings.TrimRight(strings.TrimSpace(strings.ToLower(text)), "?=!. ")
	for _, p := range []string{"please ", "what is ", "what's ", "whats ", "calculate ", "compute ", "how much is ", "solve ", "="} {
		q = strings.TrimSpace(strings.TrimPrefix(q, p))
	}
	plain := symbols(q)
	if !strings.ContainsAny(plain, "0123456789") || !strings.ContainsAny(plain, "+-*/^%x") {
		return "", "", false
	}
	v, err := evaluate(plain)
	if err != nil {
		if errors.Is(err, errZero) {
			return q, "not defined (division by zero)", true
		}
		return "", "", false
	}
	return q, show(v), true
}

var errZero = errors.New("division by zero")

// symbols writes the signs and words that people use as plain operators.
func symbols(s string) string {
	return strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-", "**", "^", " of ", " @ ", " plus ", "+", " minus ", "-", " times ", "*",
		" divided by ", "/").Replace(s)
}

// evaluate computes a term exactly.
func evaluate(s string) (*big.Rat, error) {
	p := &parser{s: s}
	v, err := p.sum(0)
	if err != nil {
		return nil, err
	}
	if p.peek() != 0 {
		return nil, errSum
	}
	return v, nil
}

// parser reads sum = product {+|- product}, product = power {*|/ power},
// power = sign [^ power], sign = [-|+] percent, percent = atom {%}.
type parser struct {
	s string
	i int
}

// peek returns the next byte that is not space, 0 at the end.
func (p *parser) peek() byte {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t' || p.s[p.i] == '\n') {
		p.i++
	}
	if p.i == len(p.s) {
		return 0
	}
	return p.s[p.i]
}

func (p *parser) sum(depth int) (*big.Rat, error) {
	v, err := p.product(depth)
	for err == nil {
		op := p.peek()
		if op != '+' && op != '-' {
			return v, nil
		}
		p.i++
		var w *big.Rat
		if w, err = p.product(depth); err == nil {
			if op == '+' {
				v = new(big.Rat).Add(v, w)
			} else {
				v = new(big.Rat).Sub(v, w)
			}
			err = small(v)
		}
	}
	return nil, err
}

func (p *parser) product(depth int) (*big.Rat, error) {
	v, err := p.power(depth)
	for err == nil {
		op := p.peek()
		if op != '*' && op != '/' && op != 'x' && op != '@' {
			return v, nil
		}
		p.i++
		var w *big.Rat
		if w, err = p.power(depth); err != nil {
			break
		}
		if op == '/' {
			if w.Sign() == 0 {
				return nil, errZero
			}
			w = new(big.Rat).Inv(w)
		}
		v = new(big.Rat).Mul(v, w)
		err = small(v)
	}
	return nil, err
}

func (p *parser) power(depth int) (*big.Rat, error) {
	if depth > maxNested {
		return nil, errSum
	}
	if c := p.peek(); c == '-' || c == '+' {
		p.i++
		v, err := p.power(depth + 1)
		if err == nil && c == '-' {
			v = new(big.Rat).Neg(v)
		}
		return v, err
	}
	base, err := p.percent(depth)
	if err != nil || p.peek() != '^' {
		return base, err
	}
	p.i++
	exp, err := p.power(depth + 1)
	if err != nil {
		return nil, err
	}
	return raise(base, exp)
}

// raise computes whole powers as long as the result stays of a sane size.
func raise(base, exp *big.Rat) (*big.Rat, error) {
	if !exp.IsInt() || !exp.Num().IsInt64() {
		return nil, errSum
	}
	n := exp.Num().Int64()
	if n < -maxBits || n > maxBits || int64(max(base.Num().BitLen(), base.Denom().BitLen()))*abs(n) > 2*maxBits {
		return nil, errSum
	}
	e := big.NewInt(abs(n))
	v := new(big.Rat).SetFrac(new(big.Int).Exp(base.Num(), e, nil), new(big.Int).Exp(base.Denom(), e, nil))
	if n < 0 {
		if v.Sign() == 0 {
			return nil, errZero
		}
		v.Inv(v)
	}
	return v, small(v)
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

func (p *parser) percent(depth int) (*big.Rat, error) {
	v, err := p.atom(depth)
	for err == nil && p.peek() == '%' {
		p.i++
		if c := p.peek(); c >= '0' && c <= '9' || c == '(' {
			return nil, errSum // a remainder, which people write in too many ways
		}
		v = new(big.Rat).Quo(v, big.NewRat(100, 1))
	}
	return v, err
}

func (p *parser) atom(depth int) (*big.Rat, error) {
	if p.peek() == '(' {
		p.i++
		v, err := p.sum(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.peek() != ')' {
			return nil, errSum
		}
		p.i++
		return v, nil
	}
	start := p.i
	dots := 0
	for p.i < len(p.s) && (p.s[p.i] >= '0' && p.s[p.i] <= '9' || p.s[p.i] == '.') {
		if p.s[p.i] == '.' {
			dots++
		}
		p.i++
	}
	digits := p.s[start:p.i]
	if len(digits) > 1 && digits[0] == '0' && digits[1] != '.' {
		return nil, errSum // a date or a telephone number
	}
	v, ok := new(big.Rat).SetString(digits)
	if !ok || dots > 1 {
		return nil, errSum
	}
	return v, nil
}

// small refuses numbers that would take long to compute with.
func small(v *big.Rat) error {
	if v.Num().BitLen() > maxBits || v.Denom().BitLen() > maxBits {
		return errSum
	}
	return nil
}

// show writes a result: whole numbers exactly, others with up to 12 digits
// behind the point.
func show(v *big.Rat) string {
	if v.IsInt() {
		return v.Num().String()
	}
	s := strings.TrimRight(v.FloatString(12), "0")
	if exact, ok := new(big.Rat).SetString(s); ok && exact.Cmp(v) == 0 {
		return s
	}
	return "≈ " + strings.TrimSuffix(s, ".")
}
