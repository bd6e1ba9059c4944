package typescript

import "strings"

// typeParameters reads <T extends U = V> and erases it.
func (p *parser) typeParameters() {
	if !p.ts || !p.is("<") {
		return
	}
	start := p.tok.start
	p.next()
	p.bracketed(func() {
		for p.more(">") {
			for p.tok.oneOf("const", "in", "out") && p.peek().kind == name {
				if p.isWord("out") && p.peek().oneOf("extends") {
					break
				}
				p.next()
			}
			if p.tok.kind != name {
				p.unexpected("expected the name of a type")
			}
			p.next()
			if p.takeWord("extends") {
				p.typ()
			}
			if p.take("=") {
				p.typ()
			}
			if !p.is(">") {
				p.expect(",")
			}
		}
	})
	p.expect(">")
	p.erase(start, p.last)
}

// typeArguments reads <T, U>; the caller erases it.
func (p *parser) typeArguments() {
	if p.is("<<") { // two of them open
		p.tok.text, p.tok.end = "<", p.tok.start+1
	}
	this := try{p.tok.start, false, 'u'}
	if _, vain := p.tried[this]; vain {
		p.unexpected("this is no list of types")
		return
	}
	p.expect("<")
	p.bracketed(p.typeList)
	p.expect(">")
	if p.failed() {
		p.vain(this)
	}
}

// typeArgumentsOfCall reads <T> after an expression if it is that and no
// comparison, and erases it.
func (p *parser) typeArgumentsOfCall() bool {
	this := try{p.tok.start, false, 't'}
	if _, vain := p.tried[this]; vain {
		return false
	}
	m := p.mark()
	start := p.tok.start
	p.typeArguments()
	if !p.failed() && p.closesTypeArguments() {
		p.erase(start, p.last)
		return true
	}
	p.back(m)
	if p.failed() {
		return false
	}
	p.vain(this)
	return false
}

// closesTypeArguments says whether what follows a > fits type arguments: a
// call or template, or something that no operand begins with.
func (p *parser) closesTypeArguments() bool {
	t := p.tok
	if next := p.src[p.last:]; strings.HasPrefix(next, "=") || strings.HasPrefix(next, ">") {
		return false // a >= b, a >> b
	}
	switch t.kind {
	case template, eof:
		return true
	case number, text, private, pattern:
		return t.newline
	case name:
		return t.newline || t.oneOf("as", "satisfies", "in", "instanceof", "of", "extends", "implements")
	}
	switch t.text {
	case "(":
		return true
	case "<", ">", "+", "-":
		return false
	case "[", "{", "!", "~", "++", "--", "/", "@":
		return t.newline || t.text == "{" || t.text == "/"
	case "<<":
		return false
	}
	return true
}

// objectType reads { members }.
func (p *parser) objectType() {
	p.enter()
	defer func() { p.depth-- }()
	p.expect("{")
	p.bracketed(func() {
		for p.more("}") {
			p.typeMember()
			if p.take(";") || p.take(",") || p.is("}") || p.tok.newline {
				continue
			}
			p.unexpected("expected ; or }")
		}
	})
	p.expect("}")
}

// typeMember reads one member of an object type or interface.
func (p *parser) typeMember() {
	if p.take("+") || p.take("-") {
		p.next() // +readonly
	}
	for p.tok.oneOf("readonly", "get", "set") && !p.endsTypeName(p.peek()) {
		p.next()
	}
	if p.isWord("new") && (p.peek().is("(") || p.peek().is("<")) {
		p.next()
	}
	switch {
	case p.is("("), p.is("<"):
		p.signature(":")
		return
	case p.is("["):
		p.typeKey()
	case p.tok.kind == name, p.tok.kind == text, p.tok.kind == number, p.tok.kind == private:
		p.next()
	default:
		p.unexpected("expected a member")
	}
	if p.take("+") || p.take("-") {
		p.expect("?")
	} else {
		p.take("?")
	}
	if p.is("(") || p.is("<") {
		p.signature(":")
	} else if p.take(":") {
		p.typ()
	}
}

// endsTypeName says whether the word before t was a member's whole name.
func (p *parser) endsTypeName(t token) bool {
	return t.kind == eof || t.kind == punct && !t.is("[") || t.newline
}

// typeKey reads [key: T], [K in T as U] or a computed name.
func (p *parser) typeKey() {
	p.next()
	after := p.peek()
	switch {
	case p.tok.kind == name && after.word("in"):
		p.next()
		p.next()
		p.typ()
		if p.takeWord("as") {
			p.typ()
		}
	case p.tok.kind == name && after.is(":"):
		p.next()
		p.next()
		p.typ()
	default:
		n := len(p.scope.refs)
		p.assignment()
		p.scope.refs = p.scope.refs[:n]
	}
	p.expect("]")
}
