package telegram

import (
	"net/url"
	"strings"
)

// inline writes text with its marks: bold, italic, strike, spoiler, code, links.
func (b *builder) inline(s string) {
	tokens := tokenize(s, true)
	pair(tokens)
	b.write(tokens)
}

type tokenKind uint8

const (
	plainText tokenKind = iota
	codeText
	linkText // text is the label, href the address
	marks    // a run of * _ ~ or |
)

// token is a piece of a line. A run of marks has in the end some marks that
// are text, and tags that stand before or after them.
type token struct {
	kind     tokenKind
	text     string
	href     string
	char     byte
	count    int // marks without a partner
	canOpen  bool
	canClose bool
	closing  []string // tags that end here, innermost first; before the marks
	opening  []string // tags that begin here, outermost first; after the marks
}

func (b *builder) write(tokens []token) {
	for _, t := range tokens {
		switch t.kind {
		case plainText:
			b.text(t.text)
		case codeText:
			b.tag("<code>")
			b.text(t.text)
			b.tag("</code>")
		case linkText:
			b.link(t.text, t.href)
		case marks:
			for _, tag := range t.closing {
				b.end(tag)
			}
			b.text(strings.Repeat(string(t.char), t.count))
			for _, tag := range t.opening {
				b.begin(tag)
			}
		}
	}
}

// link writes a link with http or https; any other address is shown as text,
// so that nothing opens that a person has not read.
func (b *builder) link(label, href string) {
	if strings.TrimSpace(label) == "" {
		label = href
	}
	inside := tokenize(label, false)
	pair(inside)
	if !webLink(href) {
		b.write(inside)
		if label != href && href != "" {
			b.text(" (" + href + ")")
		}
		return
	}
	b.tag(`<a href="`)
	escape(&b.html, href)
	b.tag(`">`)
	b.write(inside)
	b.tag("</a>")
}

func webLink(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		!strings.ContainsAny(s, " \n\t")
}

// tokenize cuts a text into pieces. Each piece of it is looked at a bounded
// number of times: bracket pairs and runs of backticks are found beforehand.
func tokenize(s string, links bool) []token {
	c := cutter{s: s, links: links, ticks: backtickRuns(s)}
	if links {
		c.brackets = pairBrackets(s)
	}
	var out []token
	start := 0 // of what is text as it stands
	flush := func(to int) {
		if to > start {
			out = append(out, token{text: s[start:to]})
		}
	}
	for i := 0; i < len(s); {
		t, n, ok := c.at(i)
		if ok {
			flush(i)
			out = append(out, t)
			start = i + n
		}
		i += n
	}
	flush(len(s))
	return out
}

// cutter knows a text that is cut into pieces.
type cutter struct {
	s        string
	links    bool // links are pieces
	brackets map[int]int
	ticks    runs
}

// at is what begins at i and how long it is; ok is false when that is text as it
// stands.
func (c *cutter) at(i int) (t token, n int, ok bool) {
	s := c.s
	switch b := s[i]; {
	case b == '\\' && i+1 < len(s) && strings.IndexByte("\\`*_{}[]()#+-.!|~<>&\"'", s[i+1]) >= 0:
		return token{text: s[i+1 : i+2]}, 2, true
	case b == '`':
		n := runLength(s, i)
		if end, ok := c.ticks.closing(i, n); ok {
			return token{kind: codeText, text: codeSpan(s[i+n : end])}, end + n - i, true
		}
		return token{}, n, false
	case b == '!' && c.links && i+1 < len(s) && s[i+1] == '[':
		if t, end, ok := linkAt(s, i+1, c.brackets); ok {
			return t, end - i, true
		}
	case b == '[' && c.links:
		if t, end, ok := linkAt(s, i, c.brackets); ok {
			return t, end - i, true
		}
	case b == '<' && c.links:
		if end := strings.IndexAny(s[i+1:], "<> \n"); end > 0 && s[i+1+end] == '>' && webLink(s[i+1:i+1+end]) {
			return token{kind: linkText, href: s[i+1 : i+1+end]}, end + 2, true
		}
	case b == '&':
		if char, n := entityAt(s[i:]); n > 0 {
			return token{text: char}, n, true
		}
	case b == '*', b == '_', b == '~', b == '|':
		n := runLength(s, i)
		t := markRun(s, i, n)
		return t, n, t.canOpen || t.canClose
	}
	return token{}, 1, false
}

func runLength(s string, i int) int {
	n := 1
	for i+n < len(s) && s[i+n] == s[i] {
		n++
	}
	return n
}

// markRun decides whether a run of marks can begin or end something.
func markRun(s string, i, n int) token {
	t := token{kind: marks, char: s[i], count: n}
	if n > 3 || (t.char == '~' || t.char == '|') && n != 2 {
		return t
	}
	before, after := " ", " "
	if i > 0 {
		before = s[i-1 : i]
	}
	if i+n < len(s) {
		after = s[i+n : i+n+1]
	}
	t.canOpen = !space(after) && (!punctuation(after) || space(before) || punctuation(before))
	t.canClose = !space(before) && (!punctuation(before) || space(after) || punctuation(after))
	if t.char == '_' { // not inside a word: snake_case stays
		open, closes := t.canOpen, t.canClose
		t.canOpen = open && (!closes || punctuation(before))
		t.canClose = closes && (!open || punctuation(after))
	}
	return t
}

func space(s string) bool { return strings.ContainsAny(s, " \n\t\r") }

func punctuation(s string) bool {
	return strings.ContainsAny(s, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
}

// pair finds the partners of marks. An opener is taken off the stack together
// with all above it, so tags are always properly nested and each run is
// visited a bounded number of times.
func pair(tokens []token) {
	var stack []int
	waiting := map[byte][3]int{} // openers on the stack with a single and a double mark to give
	count := func(t *token, by int) {
		w := waiting[t.char]
		w[1] += by * (t.count & 1)
		w[2] += by * (t.count / 2)
		waiting[t.char] = w
	}
	for i := range tokens {
		t := &tokens[i]
		if t.kind != marks {
			continue
		}
		for t.canClose {
			n := 2
			if t.count < 2 || waiting[t.char][2] == 0 {
				n = 1
			}
			if t.count&n == 0 || waiting[t.char][n] == 0 {
				break
			}
			at := len(stack) - 1
			for ; tokens[stack[at]].char != t.char || tokens[stack[at]].count&n == 0; at-- {
				count(&tokens[stack[at]], -1)
			}
			o := &tokens[stack[at]]
			count(o, -1)
			o.count -= n
			t.count -= n
			tag := tagOf(t.char, n)
			o.opening = append([]string{tag}, o.opening...)
			t.closing = append(t.closing, tag)
			stack = stack[:at]
			if o.count > 0 {
				count(o, 1)
				stack = stack[:at+1]
			}
		}
		if t.canOpen && t.count > 0 {
			stack = append(stack, i)
			count(t, 1)
		}
	}
}

func tagOf(char byte, n int) string {
	switch {
	case char == '~':
		return "s"
	case char == '|':
		return "tg-spoiler"
	case n == 2:
		return "b"
	}
	return "i"
}

// codeSpan takes away the space that keeps backticks apart.
func codeSpan(s string) string {
	if len(s) > 2 && s[0] == ' ' && s[len(s)-1] == ' ' && strings.TrimSpace(s) != "" {
		return s[1 : len(s)-1]
	}
	return s
}

// runs holds where runs of backticks begin, by their length.
type runs map[int][]int

func backtickRuns(s string) runs {
	r := runs{}
	for i := strings.IndexByte(s, '`'); i >= 0 && i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		n := runLength(s, i)
		r[n] = append(r[n], i)
		i += n
	}
	return r
}

// closing finds the next run of the same length after i. Runs before i are
// forgotten: the text is read once from left to right.
func (r runs) closing(i, n int) (int, bool) {
	list := r[n]
	for len(list) > 0 && list[0] <= i {
		list = list[1:]
	}
	r[n] = list
	if len(list) == 0 {
		return 0, false
	}
	return list[0], true
}

// pairBrackets finds the partner of every [ and (.
func pairBrackets(s string) map[int]int {
	out := map[int]int{}
	var square, round []int
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			square = append(square, i)
		case ']':
			if len(square) > 0 {
				out[square[len(square)-1]] = i
				square = square[:len(square)-1]
			}
		case '(':
			round = append(round, i)
		case ')':
			if len(round) > 0 {
				out[round[len(round)-1]] = i
				round = round[:len(round)-1]
			}
		}
	}
	return out
}

// linkAt reads [label](address "title") at i.
func linkAt(s string, i int, brackets map[int]int) (t token, end int, ok bool) {
	mid, ok := brackets[i]
	if !ok || mid+1 >= len(s) || s[mid+1] != '(' {
		return t, 0, false
	}
	last, ok := brackets[mid+1]
	if !ok {
		return t, 0, false
	}
	address := strings.TrimSpace(s[mid+2 : last])
	if strings.HasPrefix(address, "<") && strings.HasSuffix(address, ">") {
		address = address[1 : len(address)-1]
	} else if at := strings.IndexAny(address, " \n"); at >= 0 {
		address = address[:at] // a title
	}
	label := s[i+1 : mid]
	if address == "" && strings.TrimSpace(label) == "" {
		return t, 0, false
	}
	return token{kind: linkText, text: label, href: address}, last + 1, true
}

// entityAt decodes the few entities that models write.
func entityAt(s string) (char string, n int) {
	for _, e := range [...][2]string{{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&nbsp;", "\u00a0"}} {
		if strings.HasPrefix(s, e[0]) {
			return e[1], len(e[0])
		}
	}
	return "", 0
}
