package typescript

// primary reads what an expression begins with.
func (p *parser) primary() {
	switch p.tok.kind {
	case number, text, private:
		p.next()
	case template:
		p.template(p.expression)
	case name:
		p.named()
	case punct:
		p.punctuated()
	default:
		p.unexpected("expected an expression")
	}
}

func (p *parser) punctuated() {
	switch p.tok.text {
	case "(":
		p.next()
		p.bracketed(p.expression)
		p.expect(")")
	case "[":
		p.next()
		p.bracketed(func() { p.list("]") })
		p.expect("]")
	case "{":
		p.next()
		p.bracketed(p.object)
		p.expect("}")
	case "/", "/=":
		p.regexp()
		p.next()
	case "@":
		p.fail(p.tok.start, "decorators are not supported")
	default:
		p.unexpected("expected an expression")
	}
}

// named reads a word as an expression.
func (p *parser) named() {
	if p.tok.escaped {
		p.refer()
		p.next()
		return
	}
	switch p.tok.text {
	case "function":
		p.functionExpression(false)
	case "async":
		if t := p.peek(); t.word("function") && !t.newline {
			p.next()
			p.functionExpression(true)
			return
		}
		p.next()
	case "class":
		p.class(false, false)
	case "import":
		at := p.tok.start
		p.next()
		switch {
		case p.is("("):
			p.asksModule(at, "import()")
		case p.is("."):
			p.asksModule(at, "import."+p.peek().text)
		default:
			p.unexpected("expected ( or .")
		}
	case "if", "else", "for", "while", "do", "switch", "case", "default", "try", "catch", "finally", "return", "throw",
		"break", "continue", "var", "const", "export", "extends", "enum", "in", "instanceof", "with", "debugger":
		p.unexpected("expected an expression")
	default:
		p.refer()
		p.next()
	}
}

func (p *parser) functionExpression(async bool) {
	p.next()
	generator := p.take("*")
	p.push(false)
	if p.tok.kind == name {
		p.declare(p.tok.text, false)
		p.next()
	}
	p.needBody(function{async: async, generator: generator})
	p.pop()
}

// needBody reads the rest of a function that cannot be a signature only.
func (p *parser) needBody(fn function) {
	if !p.functionRest(fn, nil) {
		p.unexpected("expected {")
	}
}

// object reads the properties of an object.
func (p *parser) object() {
	for p.more("}") {
		p.property()
		if !p.is("}") {
			p.expect(",")
		}
	}
}

func (p *parser) property() {
	if p.take("...") {
		p.assignment()
		return
	}
	var fn function
	if p.isWord("async") && !p.endsProperty(p.peek()) {
		fn.async = true
		p.next()
	}
	if p.take("*") {
		fn.generator = true
	}
	if !fn.async && !fn.generator && p.tok.oneOf("get", "set") && !p.endsProperty(p.peek()) {
		p.next()
	}
	if t := p.peek(); p.tok.kind == name && (t.is(",") || t.is("}") || t.is("=")) {
		p.refer()
	}
	p.propertyName()
	switch {
	case p.is("("), p.ts && p.is("<"):
		p.needBody(fn)
	case p.take(":"), p.take("="):
		p.assignment()
	}
}

// endsProperty says whether the word before t was a property's whole name.
func (p *parser) endsProperty(t token) bool {
	return t.kind == eof || t.kind == punct && !t.is("[") && !t.is("*")
}

// propertyName reads the name of a property or member.
func (p *parser) propertyName() {
	switch {
	case p.tok.kind == name, p.tok.kind == text, p.tok.kind == number, p.tok.kind == private:
		p.next()
	case p.take("["):
		p.bracketed(p.assignment)
		p.expect("]")
	default:
		p.unexpected("expected a name")
	}
}
