package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// expression is one thing to match, run by the host and by the guest itself.
type expression struct {
	Pattern, Flags, Text string
	From                 int
}

const tryExpressions = `const out = [];
for (const c of %s) {
	try {
		const r = new RegExp(c.Pattern, c.Flags + 'd'); r.lastIndex = c.From;
		const m = r.exec(c.Text);
		out.push(m ? [m, m.index, m.indices, m.groups, m.indices.groups, r.lastIndex] : [null, r.lastIndex]);
		out.push(c.Text.replace(r, '<$&|$1>'), c.Text.split(r, 9));
	} catch (e) { out.push(String(e)) }
}
return out`

func results(t *testing.T, e *Engine, list []expression) []string {
	t.Helper()
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	st, fail := run(t, e, Program{Code: fmt.Sprintf(tryExpressions, b), Limits: Limits{Output: 8 << 20, Timeout: time.Minute}})
	if fail != nil {
		t.Fatalf("%v", fail)
	}
	var out []json.RawMessage
	if err := json.Unmarshal(st.Value, &out); err != nil {
		t.Fatal(err)
	}
	texts := make([]string, len(out))
	for i, o := range out {
		texts[i] = string(o)
	}
	return texts
}

func agree(t *testing.T, host, guest *Engine, list []expression) {
	t.Helper()
	got, want := results(t, host, list), results(t, guest, list)
	if len(got) != len(want) {
		t.Fatalf("%d results, not %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("result %d of %+v\n host: %s\nguest: %s", i, list, got[i], want[i])
			return
		}
	}
}

func bothMatchers(t testing.TB) (host, guest *Engine) {
	host, guest = newEngine(t, Options{}), newEngine(t, Options{})
	guest.plain = true
	return host, guest
}

// phrases are patterns by hand; every flag and text is tried with each.
var phrases = []string{
	`(\w+)@(\w+)\.com`, `^a|b$`, `(?:a|ab)(?:c|bcd)(d*)`, `(a*)*`, `(?:a*?)+?b`, `(z)((a+)?(b+)?(c))*`, `(?=(a+))a*b\1`,
	`(?!foo)...`, `(?<=\$)\d+(\.\d*)?`, `(?<!\$)\b\d+`, `(?<=(\d+)(\d+))$`, `(?<=\1(a))b`, `(?<y>\d{4})-(?<m>\d\d)`, `\k<q>(?<q>x)`,
	`[^]`, `.`, `[\s\S]{2,3}?`, `x{0}y`, `a{2,}`, `(?:){3}`, `\b`, `\B`, `[à-ÿ]+`, `ß|ſ|ÿ|µ|K`, `[^a-zà]+`, `é`, `É`, `😀`, `[😀-😂]`, `\u{1F600}`,
	`.\udc00`, `\ud83d`, `\p{L}+`, `\P{ASCII}`, `(?:ab|cd)\d?`, `(?=.*\d)(?=.*[a-z]).{4,}`, `(.)\1`, `(.)(.)\2\1`, `(a)|b\1`, `((a)|(b))*?c`,
	`^(?:\d{1,3}\.){3}\d{1,3}$`, `\r?\n`, `^`, `$`, `^\s+|\s+$`, `(?:(a)|b)*`, `(?!(a))b\1`, `(?:a+)+$`, `[]`, `(?:|a)+`, `(?=(?!a)b|(c))`,
}

var matchTexts = []string{
	"", "a", "foo bar@baz.com qux", "aaab", "abcd", "zaacbbbcac", "foobar", "$12.50 and 7", "1053", "ab ba", "2024-05-17x", "line\nnext\r\nlast",
	"àÉéÿßµ K ſ", "AaBbÀà", "😀😁x😂", "\U0001F600\u20ac", "127.0.0.1", "  \t x \u2028y", "aabbccdd1", "MÜNCHEN münchen", "\u0130i\u0131I",
}

// TestExpressionsAreMatchedAlike: the host gives what the guest's own function
// gives, also where no flag fits the pattern.
func TestExpressionsAreMatchedAlike(t *testing.T) {
	host, guest := bothMatchers(t)
	for _, flags := range []string{"", "g", "i", "m", "s", "y", "u", "iu", "gmiu", "sy", "v", "iv"} {
		var list []expression
		for _, p := range phrases {
			for i, s := range matchTexts {
				list = append(list, expression{p, flags, s, i % 4})
			}
		}
		agree(t, host, guest, list)
	}
}

// TestCaseOfLatinIsTheGuests: every pair of Latin-1 characters, as the guest
// sees them.
func TestCaseOfLatinIsTheGuests(t *testing.T) {
	host, guest := bothMatchers(t)
	var all strings.Builder
	for c := rune(0); c < 0x100; c++ {
		all.WriteRune(c)
	}
	var list []expression
	for c := range 0x180 {
		for _, flags := range []string{"gi", "giu"} {
			list = append(list, expression{fmt.Sprintf(`\u%04x|[\u%04x-\u%04x]`, c, c+1, c+2), flags, all.String(), 0})
		}
	}
	agree(t, host, guest, list)
}

// TestRandomExpressionsAreMatchedAlike is the fuzz target below with seeds of
// its own.
func TestRandomExpressionsAreMatchedAlike(t *testing.T) {
	host, guest := bothMatchers(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		data := make([]byte, 12000)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		agree(t, host, guest, readExpressions(data))
	}
}

func FuzzExpression(f *testing.F) {
	host, guest := bothMatchers(f)
	for _, e := range []*Engine{host, guest} { // ahead: an input that takes ten seconds counts as one that hangs
		if err := e.Warm(f.Context()); err != nil {
			f.Fatal(err)
		}
	}
	f.Add([]byte("any bytes become expressions, texts and flags"))
	f.Add([]byte{3, 200, 17, 9, 81, 1, 0, 255, 4, 4, 90, 12, 7, 33, 61, 5, 128, 64, 32, 16})
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, host, guest, readExpressions(data)) })
}

// readExpressions reads data as a list of what to match.
func readExpressions(data []byte) []expression {
	w := &expressionWriter{data: data}
	list := []expression{}
	for len(w.data) > 0 && len(list) < 300 {
		e := expression{From: w.pick(4)}
		for i, f := range "gimsyu" {
			if w.pick(3) == 0 && i != w.pick(9) {
				e.Flags += string(f)
			}
		}
		e.Pattern = w.alternatives(3)
		for range w.pick(14) {
			e.Text += w.one(letters)
		}
		list = append(list, e)
	}
	return list
}

var (
	letters = []string{"a", "b", "A", "B", "1", " ", "-", "\n", "é", "É", "ß", "€", "😀", "\u2028", "_", "ab", "aa"}
	atoms   = []string{".", `\w`, `\d`, `\s`, `\W`, `[ab]`, `[^a]`, `[a-zé]`, `[€-\uffff]`, `[^\d\s]`, `\b`, `\B`, "^", "$", `\1`, `\2`, `\u00e9`, `[^]`, `[A-Z1-]`, `\p{Lu}`, `\ud83d`}
	counts  = []string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}", "{0,2}?", "{0}"}
	groups  = []string{"(?:", "(", "(?=", "(?!", "(?<=", "(?<!", "(?<n>"}
)

type expressionWriter struct{ data []byte }

func (w *expressionWriter) pick(n int) int {
	if len(w.data) == 0 {
		return 0
	}
	b := w.data[0]
	w.data = w.data[1:]
	return int(b) % n
}

func (w *expressionWriter) one(of []string) string { return of[w.pick(len(of))] }

func (w *expressionWriter) alternatives(depth int) string {
	s := w.sequence(depth)
	for w.pick(4) == 1 {
		s += "|" + w.sequence(depth)
	}
	return s
}

func (w *expressionWriter) sequence(depth int) (s string) {
	for range 1 + w.pick(4) {
		switch k := w.pick(8); {
		case k < 2 && depth > 0:
			s += w.one(groups) + w.alternatives(depth-1) + ")"
		case k < 5:
			s += w.one(letters)
		default:
			s += w.one(atoms)
		}
		if w.pick(3) == 1 {
			s += w.one(counts)
		}
	}
	return s
}

// TestExpressionsAreMatchedOutside says that the host was asked at all.
func TestExpressionsAreMatchedOutside(t *testing.T) {
	for plain, want := range map[bool]int{false: 4, true: 0} {
		e := newEngine(t, Options{})
		e.plain = plain
		v, st, err := e.Start(t.Context(), Program{Code: `return /(b)c/.exec("abc").index`})
		if err != nil || string(st.Value) != "1" {
			t.Fatal(st, err)
		}
		if len(v.matcher.Captures) != want {
			t.Errorf("plain %v: %d bounds were captured", plain, len(v.matcher.Captures))
		}
		v.Close()
	}
}
