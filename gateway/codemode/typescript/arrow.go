package typescript

import "strings"

// arrow reads an arrow function if one begins here.
func (p *parser) arrow() bool {
	switch {
	case p.is("("), p.ts && p.is("<"):
		return p.tryArrow(false)
	case p.tok.kind != name:
		return false
	case p.isWord("async"):
		t := p.peek()
		if t.newline || t.word("function") {
			return false
		}
		if t.is("(") || p.ts && t.is("<") {
			return p.tryArrow(true)
		}
		if t.kind == name && p.scan(t.end).is("=>") {
			p.next()
			p.shortArrow(true)
			return true
		}
	}
	if t := p.peek(); t.is("=>") && !t.newline {
		p.shortArrow(false)
		return true
	}
	return false
}

// shortArrow reads name => body.
func (p *parser) shortArrow(async bool) {
	p.push(true)
	p.declare(p.tok.text, false)
	p.next()
	p.next()
	p.arrowBody(async)
	p.pop()
}

// tryArrow reads (parameters) => body, or nothing.
func (p *parser) tryArrow(async bool) bool {
	this := try{p.tok.start, p.flags.branch, 'a'}
	if _, vain := p.tried[this]; vain {
		return false
	}
	m := p.mark()
	p.push(true)
	if async {
		p.next()
	}
	typed, ok := p.arrowHead()
	if ok {
		p.arrowBody(async)
		// a ? (b) : c => d is a choice between b and an arrow function, unless
		// another : follows.
		if !typed || !m.flags.branch || !p.failed() && p.is(":") {
			if !p.failed() {
				p.pop()
			}
			return true
		}
	}
	p.back(m)
	if p.failed() {
		return true // too deep or too long; there is no other reading
	}
	p.vain(this)
	return false
}

// arrowHead reads up to and with the arrow; it says whether the return type
// was given.
func (p *parser) arrowHead() (typed, ok bool) {
	saved := p.flags
	p.flags = flags{}
	start := p.tok.start
	if p.is("<") {
		p.typeParameters()
		if p.is("(") && strings.ContainsAny(p.src[start:p.tok.start], "\n\r\u2028\u2029") {
			// the bracket moves up: no line may end between async and it
			p.replace(start, p.tok.start, "(")
			p.erase(p.tok.start, p.tok.end)
		}
	}
	if !p.is("(") {
		return false, false
	}
	p.parameters(nil)
	closed := p.last
	if p.failed() {
		return false, false
	}
	if p.ts && p.is(":") {
		typed = true
		p.returnType()
		if !p.failed() && strings.ContainsAny(p.src[closed:p.last], "\n\r\u2028\u2029") {
			// the bracket moves down: no line may end between it and the arrow
			p.erase(closed-1, p.last)
			p.replace(p.last-1, p.last, ")")
			p.edits[len(p.edits)-2].end--
		}
	}
	p.flags = saved
	if p.failed() || !p.is("=>") || p.tok.newline {
		return false, false
	}
	p.next()
	return typed, true
}

// arrowBody reads what follows the arrow.
func (p *parser) arrowBody(async bool) {
	saved := p.fn
	p.fn = function{async: async}
	if p.is("{") {
		p.bracketed(func() { p.body(nil) })
	} else {
		p.assignment()
	}
	p.fn = saved
}
