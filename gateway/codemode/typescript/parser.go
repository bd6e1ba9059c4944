package typescript

import (
	"context"
	"fmt"
	"strings"
)

// parser reads a program from left to right and notes what to erase. It builds
// no tree. After an error every token is the end, so that all loops come to
// theirs.
type parser struct {
	ctx context.Context
	src string
	ts  bool

	tok   token
	last  int // end of the token before
	edits []edit

	depth, steps int
	flags        flags
	fn           function
	scope        *scope
	tried        map[try]struct{}
	modules      []reference // import and export

	wrong   string
	wrongAt int
	stopped error // ctx's
}

// flags are what the place in an expression or type changes about its reading.
type flags struct {
	branch        bool // between ? and : an arrow with a return type needs the : after it
	noIn          bool // the head of a for: in is no operator
	noConditional bool // after extends in a type
}

// function is what the function around changes.
type function struct{ async, generator bool }

// try is a reading that was attempted in vain, so that it is not again.
type try struct {
	at     int
	branch bool
	what   byte
}

// mark is a place to come back to.
type mark struct {
	tok                    token
	last, edits, refs, mod int
	flags                  flags
	fn                     function
	scope                  *scope
	depth                  int
	edit                   edit // the newest; it can grow
}

func (p *parser) mark() mark {
	m := mark{tok: p.tok, last: p.last, edits: len(p.edits), refs: len(p.scope.refs), mod: len(p.modules), flags: p.flags, fn: p.fn, scope: p.scope, depth: p.depth}
	if m.edits > 0 {
		m.edit = p.edits[m.edits-1]
	}
	return m
}

// back returns to m as if nothing had been read since. A program that was too
// deep or too long stays so.
func (p *parser) back(m mark) {
	if p.stopped != nil || p.steps <= 0 {
		return
	}
	p.tok, p.last, p.flags, p.fn, p.scope, p.depth = m.tok, m.last, m.flags, m.fn, m.scope, m.depth
	p.edits, p.scope.refs, p.modules = p.edits[:m.edits], p.scope.refs[:m.refs], p.modules[:m.mod]
	if m.edits > 0 {
		p.edits[m.edits-1] = m.edit
	}
	p.wrong = ""
}

// maxTried bounds how many readings are remembered.
const maxTried = 1 << 20

// vain remembers that a reading led nowhere.
func (p *parser) vain(t try) {
	if len(p.tried) >= maxTried {
		p.steps = 0
		p.fail(t.at, "the program is too entangled to be read")
		return
	}
	p.tried[t] = struct{}{}
}

// fail notes the first error and ends the reading.
func (p *parser) fail(at int, format string, args ...any) {
	if p.wrong == "" {
		p.wrong, p.wrongAt = fmt.Sprintf(format, args...), at
	}
	p.tok = token{start: len(p.src), end: len(p.src)}
}

// failed says whether the reading has ended before its time.
func (p *parser) failed() bool { return p.wrong != "" || p.stopped != nil }

// next goes to the next token.
func (p *parser) next() {
	if p.failed() {
		return
	}
	p.steps--
	if p.steps <= 0 {
		p.fail(p.tok.start, "the program is too entangled to be read")
		return
	}
	if p.steps&4095 == 0 && p.ctx.Err() != nil {
		p.stopped = p.ctx.Err()
		p.fail(p.tok.start, "stopped")
		return
	}
	p.last = p.tok.end
	t := p.scan(p.tok.end)
	if !p.failed() {
		p.tok = t
	}
}

// peek is the token after this one, read as if no expression began there.
func (p *parser) peek() token {
	if p.failed() {
		return token{}
	}
	t := p.scan(p.tok.end)
	return t
}

// is says whether the parser stands on this punctuation.
func (p *parser) is(s string) bool { return p.tok.kind == punct && p.tok.text == s }

// isWord says whether it stands on this word, written without escapes.
func (p *parser) isWord(s string) bool { return p.tok.word(s) }

func (t token) word(s string) bool { return t.kind == name && !t.escaped && t.text == s }

func (t token) is(s string) bool { return t.kind == punct && t.text == s }

// oneOf says whether t is one of these words.
func (t token) oneOf(words ...string) bool {
	for _, w := range words {
		if t.word(w) {
			return true
		}
	}
	return false
}

// take passes over s if the parser stands on it.
func (p *parser) take(s string) bool {
	if !p.is(s) {
		return false
	}
	p.next()
	return true
}

// takeWord passes over the word s if the parser stands on it.
func (p *parser) takeWord(s string) bool {
	if !p.isWord(s) {
		return false
	}
	p.next()
	return true
}

// expect passes over s or fails.
func (p *parser) expect(s string) {
	if !p.take(s) {
		p.unexpected("expected " + s)
	}
}

// more says whether a list that ends with end goes on.
func (p *parser) more(end string) bool { return p.tok.kind != eof && !p.is(end) }

// unexpected fails at the token that the parser stands on.
func (p *parser) unexpected(wanted string) {
	if p.failed() {
		return
	}
	found := p.tok.text
	switch {
	case p.tok.kind == eof:
		found = "the end of the program"
	case len(found) > 40:
		found = found[:40] + "…"
	}
	if wanted != "" {
		wanted = ": " + wanted
	}
	p.fail(p.tok.start, "unexpected %s%s", strings.ToValidUTF8(found, "?"), wanted)
}

// enter counts a level down; the caller leaves with p.depth--.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth && !p.failed() {
		p.fail(p.tok.start, "nested more than %d levels deep", maxDepth)
	}
}

// semicolon ends a statement. Where the end is only a line's end and the
// statement's last word was erased, a semicolon is written in its place: what
// stands on the next line must not become part of it.
func (p *parser) semicolon() {
	if p.take(";") {
		return
	}
	if !p.is("}") && p.tok.kind != eof && !p.tok.newline {
		p.unexpected("expected ; or a new line")
		return
	}
	if n := len(p.edits) - 1; n >= 0 && p.edits[n].end == p.last && p.edits[n].blank() {
		p.edits[n].lead = ";"
	}
}

// program reads the whole text.
func (p *parser) program() {
	if strings.HasPrefix(p.src, "#!") {
		end := strings.IndexAny(p.src, "\r\n")
		if end < 0 {
			end = len(p.src)
		}
		p.erase(0, end)
		p.tok.end = end
	}
	p.next()
	for p.tok.kind != eof {
		p.statement()
	}
}
