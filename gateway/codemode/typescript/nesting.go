package typescript

import (
	"fmt"
	"strings"
)

// esbuild's parser calls itself for what is nested, and a goroutine whose stack
// runs over takes the whole process with it. So a program is refused before it
// is parsed when it may be nested deeper than maxNesting.
//
// How deep a parser goes is not told by brackets alone: "! ! ! x", "a = b = c",
// "if (a) if (b)", "a.b.c" and "keyof keyof T" nest without any. Every token that
// can nest counts therefore, from where its statement, member or list element
// began; what is in brackets adds its own height to the element that it stands
// in. Tokens that a parser takes in a loop (a + b + c, names, texts) are free.
// That is more than the true depth, never less, and a person's program is far
// below it.
const (
	maxNesting = 1000
	maxScopes  = 100  // functions and braces in each other: names are looked for in all of them
	maxCommas  = 4096 // esbuild takes the square of it for "a, b, c"
	maxCases   = 1024 // the same
	maxDouble  = 5    // constructs that esbuild reads twice, in each other
)

// level is what is inside one bracket.
type level struct {
	bracket byte // 0: the program
	start   int
	control bool // the head of if, for, while or with
	array   bool // a list, not an index

	held   int // words of statements, which a comma does not end
	chain  int // everything else since the last comma
	colons int // of them; a label is one that no ? explains
	angles int // < less >
	child  int // the greatest height in brackets of this element
	done   int // the greatest height of the elements before

	commas  int
	asks    int // ?, while what follows it is open
	typed   bool
	arrows  int // a ? (b): c => ...
	infers  int
	scopes  int // functions that this element began
	cases   int
	ended   bool // a ; stands before
	blocked bool // a } stands before
}

func (l *level) sum() int    { return l.held + l.chain + l.angles }
func (l *level) height() int { return max(l.done, l.sum()+l.child) }

// comma ends an element.
func (l *level) comma() {
	if l.angles > 0 {
		return // of type arguments: what is around them goes on
	}
	l.done = l.height()
	l.held += max(0, l.colons-1) // labels
	l.chain, l.colons, l.child, l.asks, l.typed, l.arrows, l.infers, l.scopes = 0, 0, 0, 0, false, 0, 0, 0
}

// statement ends a statement or a member.
func (l *level) statement() {
	*l = level{bracket: l.bracket, start: l.start, control: l.control, array: l.array, cases: l.cases, done: l.height()}
}

// meaning is what a word does where it is no name of a property.
type meaning int

const (
	counts   meaning = 1 << iota // it may nest; every word of the list does
	prefix                       // an expression follows
	unsure                       // an expression may follow
	held                         // it begins a statement, or goes on with one
	goesOn                       // what stood before it goes on
	wholeOne                     // it is an operand
)

var words = func() map[string]meaning {
	m := map[string]meaning{}
	for is, list := range map[meaning]string{
		prefix:                 "return typeof delete void throw new",
		prefix | held:          "case do",
		prefix | held | goesOn: "else",
		prefix | goesOn:        "in instanceof extends",
		unsure | held:          "if for with try switch default",
		unsure | held | goesOn: "while catch finally",
		unsure: "await yield break continue debugger function class var const export import enum async infer keyof readonly " +
			"unique asserts",
		unsure | goesOn: "of as satisfies is implements from",
		wholeOne:        "this super null true false",
		counts: "let static get set type declare abstract namespace module public private protected override accessor " +
			"interface using global out",
	} {
		for _, w := range strings.Fields(list) {
			m[w] = is | counts
		}
	}
	return m
}()

// count takes account of t, before its own state is judged.
func (s *scanner) count(t token) {
	l := s.level
	s.boundary(t, l)
	switch t.kind {
	case eof, value:
	case word:
		s.countWord(t, l)
	case open:
		if s.state != operator {
			l.chain++ // a tag before it
		}
		if t.more {
			s.push('`', t)
		}
	case middle:
		s.pop(t)
		if t.more {
			s.push('`', t)
		}
	case punct:
		s.countPunct(t, l)
	}
	if s.wrong != nil {
		return
	}
	l = s.level
	if s.below+l.sum()+l.child > maxNesting {
		s.refuse(t.start, fmt.Sprintf("the program is nested deeper than %d levels, or one statement is that long: divide it", maxNesting))
	}
	if s.arrows > maxDouble || s.infers > maxDouble {
		s.refuse(t.start, "too many of these stand in each other: divide the program, or leave the types away")
	}
	if s.scopes > maxScopes {
		s.refuse(t.start, fmt.Sprintf("more than %d functions, blocks and objects stand in each other", maxScopes))
	}
	if l.cases > maxCases {
		s.refuse(t.start, fmt.Sprintf("more than %d cases: divide it", maxCases))
	}
	if l.commas > maxCommas {
		s.refuse(t.start, fmt.Sprintf("a list of more than %d elements: divide it", maxCommas))
	}
}

// boundary finds out whether t begins a new statement or member.
func (s *scanner) boundary(t token, l *level) {
	is := words[t.text]
	if t.kind != word || t.isProperty || t.hasEscape {
		is &= counts
	}
	on := is&goesOn != 0
	begins := t.kind == word || t.kind == value || t.text == "@"
	switch {
	case l.ended && !on, l.blocked && begins && !on, t.kind == word && t.newline && s.whole && !on:
		s.forget(l)
		l.statement()
	}
	l.ended, l.blocked = false, false
}

// forget takes away what an ending element added to the sums over all levels.
func (s *scanner) forget(l *level) {
	s.arrows -= l.arrows
	s.infers -= l.infers
	s.asks -= l.asks
	s.scopes -= l.scopes
}

func (s *scanner) countWord(t token, l *level) {
	is := words[t.text]
	switch {
	case t.isProperty:
	case t.hasEscape:
		l.chain++
	case is&held != 0:
		l.held++
	case is != 0:
		l.chain++
	}
	if t.isProperty {
		return
	}
	switch t.text {
	case "infer":
		l.infers++
		s.infers++
	case "function":
		l.scopes++
		s.scopes++
	case "case":
		l.cases++
	}
}

func (s *scanner) countPunct(t token, l *level) {
	switch p := t.text; p {
	case "(", "[", "{":
		if p != "{" && s.state != operator {
			l.chain++ // a call, an index
		}
		s.push(p[0], t)
	case ")", "]", "}":
		s.pop(t)
	case ";":
		l.ended = true
	case ",":
		if !l.array {
			l.commas++
		}
		if l.angles == 0 {
			s.forget(l)
		}
		l.comma()
	case "<", "<<", "<<=":
		l.angles += strings.Count(p, "<")
		if s.state != operand {
			l.chain++ // a cast, which its > does not end
		}
	case ">", ">>", ">>>", ">=", ">>=", ">>>=":
		l.angles = max(0, l.angles-strings.Count(p, ">"))
		if p != ">" && strings.HasSuffix(p, "=") {
			l.chain++
		}
	case "=>":
		l.chain++
		l.scopes++
		s.scopes++
		if l.typed {
			l.typed = false
			l.arrows++
			s.arrows++
		}
	case "?":
		l.chain++
		l.colons--
		l.asks++
		s.asks++
	case ":":
		l.chain++
		l.colons++
		l.typed = l.typed || s.asks > 0 && s.last.text == ")"
	case "==", "===", "!=", "!==", "<=", "&&", "||", "??", "/", "%", "^":
	case "+", "-", "*", "&", "|":
		if s.state != operand {
			l.chain++
		}
	default:
		l.chain++
	}
}

func (s *scanner) push(bracket byte, t token) {
	inner := &level{bracket: bracket, start: t.start, array: bracket == '[' && s.state == operator}
	if is := words[s.last.text]; bracket == '(' && s.last.kind == word && !s.last.isProperty {
		switch s.last.text {
		case "if", "for", "while", "with", "await":
			inner.control = is != 0
		}
	}
	if bracket == '{' {
		s.scopes++
	}
	s.below += s.level.sum() + 1
	s.outer = append(s.outer, s.level)
	s.level = inner
}

var closers = map[byte]string{'(': ")", '[': "]", '{': "}", '`': "}"}

func (s *scanner) pop(t token) {
	l := s.level
	if l.bracket == 0 {
		s.fail(t.start, "unexpected "+t.text[:1]+": nothing is open that it would close")
		return
	}
	if closers[l.bracket] != t.text[:1] {
		line, _ := position(s.src, l.start)
		s.fail(t.start, fmt.Sprintf("unexpected %s: the %s of line %d is still open", t.text[:1], s.src[l.start:l.start+1], line))
		return
	}
	s.forget(l)
	if l.bracket == '{' {
		s.scopes--
	}
	s.closed = l
	last := len(s.outer) - 1
	s.level, s.outer = s.outer[last], s.outer[:last]
	s.below -= s.level.sum() + 1
	s.level.child = max(s.level.child, l.height()+1)
	s.level.blocked = l.bracket == '{'
}

// check reads the whole program and says what is wrong with it before it is
// parsed: what is left open, and what is nested too deeply.
func check(source string) *Error {
	s := newScanner(source)
	for s.next().kind != eof {
	}
	if s.wrong == nil && s.level.bracket != 0 {
		at := s.level.start
		open := "`"
		if s.level.bracket != '`' {
			open = string(s.level.bracket)
		}
		s.fail(at, "this "+open+" is never closed")
	}
	return s.wrong
}
