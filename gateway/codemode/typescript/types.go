package typescript

// annotation reads : Type and erases it.
func (p *parser) annotation() {
	if !p.ts || !p.is(":") {
		return
	}
	start := p.tok.start
	p.next()
	p.typ()
	p.erase(start, p.last)
}

// returnType reads : Type after parameters, or a predicate, and erases it.
func (p *parser) returnType() {
	if !p.ts || !p.is(":") {
		return
	}
	start := p.tok.start
	p.next()
	p.result()
	p.erase(start, p.last)
}

// result reads a type or a predicate: x is T, asserts x is T.
func (p *parser) result() {
	if t := p.peek(); p.isWord("asserts") && t.kind == name && !t.newline && !t.word("is") {
		p.next()
		if t := p.peek(); !t.word("is") || t.newline {
			p.next()
			return
		}
	}
	if t := p.peek(); p.tok.kind == name && t.word("is") && !t.newline {
		p.next()
		p.next()
	}
	p.typ()
}

// typeList reads types with commas between them.
func (p *parser) typeList() {
	for {
		p.typ()
		if !p.take(",") {
			return
		}
	}
}

// typ reads one type. Nothing of it stays, so only its end matters.
func (p *parser) typ() {
	p.enter()
	defer func() { p.depth-- }()
	for p.tok.kind != eof {
		p.union()
		if p.flags.noConditional || !p.isWord("extends") || p.tok.newline {
			return
		}
		p.next()
		saved := p.flags
		p.flags.noConditional = true
		p.typ()
		p.flags = saved
		p.expect("?")
		p.bracketed(p.typ)
		p.expect(":")
	}
}

// union reads types with | and & between them.
func (p *parser) union() {
	if !p.take("|") {
		p.take("&")
	}
	for {
		p.typeOperand()
		if !p.take("|") && !p.take("&") {
			return
		}
	}
}

// typeOperand reads one type with what stands before and after it.
func (p *parser) typeOperand() {
	for p.tok.oneOf("keyof", "unique", "readonly") && p.typeFollows() {
		p.next()
	}
	if t := p.peek(); p.isWord("infer") && t.kind == name && !t.newline {
		p.infer()
		return
	}
	switch {
	case p.is("<"), p.is("(") && p.functionType(), p.isWord("new") || p.isWord("abstract") && p.peek().word("new"):
		p.signatureType()
		return
	}
	p.typePrimary()
	for p.is("[") && !p.tok.newline {
		p.next()
		if !p.is("]") {
			p.bracketed(p.typ)
		}
		p.expect("]")
	}
}

// typeFollows says whether the word under the parser is an operator: a type
// comes after it on the line.
func (p *parser) typeFollows() bool {
	t := p.peek()
	switch t.kind {
	case name, text, template, number:
		return !t.oneOf("extends", "is", "as", "satisfies") && !t.newline
	case punct:
		return t.is("(") || t.is("{") || t.is("[")
	}
	return false
}

// infer reads infer X, with its constraint if it has one.
func (p *parser) infer() {
	p.next()
	p.next()
	if !p.isWord("extends") {
		return
	}
	m := p.mark()
	p.next()
	p.flags.noConditional = true
	p.typ()
	p.flags = m.flags
	if p.failed() || !m.flags.noConditional && p.is("?") {
		p.back(m) // it belongs to the conditional type around
	}
}

// functionType says whether ( begins a function's type and not a group.
func (p *parser) functionType() bool {
	t := p.peek()
	switch {
	case t.is(")"), t.is("..."):
		return true
	case t.kind == name:
		after := p.scan(t.end)
		if after.is(")") {
			return p.scan(after.end).is("=>")
		}
		return after.is(":") || after.is(",") || after.is("=") || after.is("?")
	case t.is("{"), t.is("["):
		return p.tryPatternParameter()
	}
	return false
}

// tryPatternParameter looks whether a parameter that is a pattern stands after
// the bracket.
func (p *parser) tryPatternParameter() bool {
	this := try{p.tok.start, false, 'p'}
	if _, vain := p.tried[this]; vain {
		return false
	}
	m := p.mark()
	p.next()
	p.push(true)
	p.binding(false)
	yes := !p.failed() && (p.is(":") || p.is(",") || p.is("?") || p.is("="))
	if p.is(")") && !p.failed() {
		yes = p.peek().is("=>")
	}
	p.back(m)
	if !yes && !p.failed() {
		p.vain(this)
	}
	return yes
}

// signatureType reads the type of a function or constructor.
func (p *parser) signatureType() {
	p.takeWord("abstract")
	p.takeWord("new")
	p.signature("=>")
}

// signature reads type parameters, parameters and what is returned.
func (p *parser) signature(arrow string) {
	p.push(true)
	defer p.pop()
	defer func() { p.scope.refs = nil }()
	saved := p.flags
	p.flags = flags{}
	p.typeParameters()
	p.parameters(nil)
	p.flags = saved
	if arrow == "=>" {
		p.expect("=>")
		p.bracketed(p.result)
	} else if p.take(":") {
		p.bracketed(p.result)
	}
}

// typePrimary reads a type that stands alone.
func (p *parser) typePrimary() {
	switch {
	case p.tok.kind == template:
		p.template(p.typ)
	case p.tok.kind == text, p.tok.kind == number:
		p.next()
	case p.is("-"):
		p.next()
		p.next()
	case p.take("("):
		p.bracketed(p.typ)
		p.expect(")")
	case p.take("["):
		p.bracketed(p.tuple)
		p.expect("]")
	case p.is("{"):
		p.objectType()
	case p.isWord("typeof"):
		p.next()
		p.typeName()
	case p.tok.kind == name && !p.is("in"):
		p.typeName()
	default:
		p.unexpected("expected a type")
	}
}

// typeName reads a name with members and type arguments, or import("...").
func (p *parser) typeName() {
	if p.isWord("import") && p.peek().is("(") {
		p.next()
		p.next()
		p.typ()
		if p.take(",") {
			p.assignment()
		}
		p.expect(")")
	} else {
		if p.tok.kind != name {
			p.unexpected("expected the name of a type")
			return
		}
		p.next()
	}
	for p.is(".") {
		p.next()
		p.memberName()
	}
	if (p.is("<") || p.is("<<")) && !p.tok.newline {
		p.typeArguments()
	}
}

// tuple reads the elements of a tuple: T, name: T, name?: T, ...T, T?.
func (p *parser) tuple() {
	for p.more("]") {
		p.take("...")
		if t := p.peek(); p.tok.kind == name && (t.is(":") || t.is("?") && p.scan(t.end).is(":")) {
			p.next()
			p.take("?")
			p.expect(":")
			p.take("...")
		}
		p.typ()
		p.take("?")
		if !p.is("]") {
			p.expect(",")
		}
	}
}
