package typescript

// statement reads one statement.
func (p *parser) statement() {
	p.enter()
	defer func() { p.depth-- }()
	switch {
	case p.is("{"):
		p.block()
	case p.is(";"):
		p.next()
	case p.is("@"):
		p.fail(p.tok.start, "decorators are not supported")
	case p.tok.kind == name && !p.tok.escaped && (p.keyword() || p.ts && p.typeStatement()):
	case p.tok.kind == name && !p.tok.escaped && p.peek().is(":"):
		p.next() // a label
		p.next()
		p.statement()
	default:
		p.expression()
		p.semicolon()
	}
}

// block reads { statements } with a scope of its own.
func (p *parser) block() {
	p.push(false)
	p.expect("{")
	for p.more("}") {
		p.statement()
	}
	p.expect("}")
	p.pop()
}

// keyword reads the statement of a keyword; false when the word begins none.
func (p *parser) keyword() bool {
	at := p.tok.start
	switch p.tok.text {
	case "var", "const":
		if p.ts && p.isWord("const") && p.peek().word("enum") {
			p.enum(at)
			return true
		}
		p.variables()
		p.semicolon()
	case "let":
		if t := p.peek(); t.kind != name && !t.is("[") && !t.is("{") || t.oneOf("in", "of", "instanceof") {
			return false
		}
		p.variables()
		p.semicolon()
	case "function":
		p.functionDeclaration(at, false)
	case "async":
		if t := p.peek(); !t.word("function") || t.newline {
			return false
		}
		p.next()
		p.functionDeclaration(at, true)
	case "class":
		p.class(true, false)
	case "if":
		p.ifStatement()
	case "while", "with":
		p.next()
		p.condition()
		p.statement()
	case "for":
		p.forLoop()
	case "do":
		p.next()
		p.statement()
		if !p.takeWord("while") {
			p.unexpected("expected while")
		}
		p.condition()
		p.take(";")
	case "switch":
		p.switchStatement()
	case "try":
		p.tryStatement()
	case "return", "throw":
		p.next()
		if !p.tok.newline && !p.is(";") && !p.is("}") && p.tok.kind != eof {
			p.expression()
		}
		p.semicolon()
	case "break", "continue", "debugger":
		p.next()
		if p.tok.kind == name && !p.tok.newline {
			p.next()
		}
		p.semicolon()
	case "import":
		if t := p.peek(); t.is("(") || t.is(".") {
			return false
		}
		p.asksModule(at, "import")
		p.fail(at, "import is not available")
	case "export":
		p.asksModule(at, "export")
		p.fail(at, "export is not available")
	case "else", "case", "default", "catch", "finally":
		p.unexpected("")
	default:
		return false
	}
	return true
}

// ifStatement reads if and its else branches, a chain of them without going
// deeper.
func (p *parser) ifStatement() {
	for p.takeWord("if") {
		p.condition()
		p.statement()
		if !p.takeWord("else") {
			return
		}
	}
	p.statement()
}

// condition reads ( expression ).
func (p *parser) condition() {
	p.expect("(")
	p.bracketed(p.expression)
	p.expect(")")
}

// bracketed reads something between brackets, where the flags around do not
// hold.
func (p *parser) bracketed(read func()) {
	saved := p.flags
	p.flags = flags{}
	read()
	p.flags = saved
}

// variables reads var, let or const and what they declare.
func (p *parser) variables() {
	hoisted := p.isWord("var")
	p.next()
	for {
		p.binding(hoisted)
		if p.ts && p.is("!") {
			p.erase(p.tok.start, p.tok.end)
			p.next()
		}
		p.annotation()
		if p.take("=") {
			p.assignment()
		}
		if !p.take(",") {
			return
		}
	}
}

// binding reads a name or a pattern that is bound.
func (p *parser) binding(hoisted bool) {
	p.enter()
	defer func() { p.depth-- }()
	switch {
	case p.tok.kind == name:
		p.declare(p.tok.text, hoisted)
		p.next()
	case p.take("["):
		p.bracketed(func() {
			for p.more("]") {
				if p.take(",") {
					continue
				}
				p.take("...")
				p.bindingWithDefault(hoisted)
			}
		})
		p.expect("]")
	case p.take("{"):
		p.bracketed(func() {
			for p.more("}") {
				p.bindingProperty(hoisted)
				if !p.is("}") {
					p.expect(",")
				}
			}
		})
		p.expect("}")
	default:
		p.unexpected("expected a name")
	}
}

func (p *parser) bindingWithDefault(hoisted bool) {
	p.binding(hoisted)
	if p.take("=") {
		p.assignment()
	}
	if !p.is("]") && !p.is("}") {
		p.expect(",")
	}
}

// bindingProperty reads one entry of an object pattern.
func (p *parser) bindingProperty(hoisted bool) {
	if p.take("...") {
		p.binding(hoisted)
		return
	}
	if p.tok.kind == name && !p.peek().is(":") {
		p.binding(hoisted)
	} else {
		p.propertyName()
		p.expect(":")
		p.binding(hoisted)
	}
	if p.take("=") {
		p.assignment()
	}
}

// forLoop reads the three kinds of for.
func (p *parser) forLoop() {
	p.next()
	p.takeWord("await")
	p.push(false)
	p.expect("(")
	saved := p.flags
	p.flags = flags{noIn: true}
	switch {
	case p.is(";"):
	case p.isWord("var"), p.isWord("const"), p.isWord("let") && p.letDeclares():
		p.variables()
	default:
		p.expression()
	}
	p.flags = flags{}
	if p.takeWord("of") {
		p.assignment()
	} else if p.takeWord("in") {
		p.expression()
	} else {
		for range 2 {
			p.expect(";")
			if !p.is(";") && !p.is(")") {
				p.expression()
			}
		}
	}
	p.flags = saved
	p.expect(")")
	p.statement()
	p.pop()
}

func (p *parser) letDeclares() bool {
	t := p.peek()
	return t.is("[") || t.is("{") || t.kind == name && !t.oneOf("in", "of")
}

func (p *parser) switchStatement() {
	p.next()
	p.condition()
	p.push(false)
	p.expect("{")
	for p.more("}") {
		if p.takeWord("case") {
			p.bracketed(p.expression)
			p.expect(":")
		} else if p.isWord("default") && p.peek().is(":") {
			p.next()
			p.next()
		} else {
			p.statement()
		}
	}
	p.expect("}")
	p.pop()
}

func (p *parser) tryStatement() {
	p.next()
	p.block()
	if p.takeWord("catch") {
		p.push(false)
		if p.take("(") {
			p.binding(false)
			p.annotation()
			p.expect(")")
		}
		p.block()
		p.pop()
	}
	if p.takeWord("finally") {
		p.block()
	}
}

// functionDeclaration reads function and what follows. One without a body is
// the signature of an overload and goes.
func (p *parser) functionDeclaration(start int, async bool) {
	p.next()
	generator := p.take("*")
	if p.tok.kind == name {
		p.declare(p.tok.text, false)
		p.next()
	}
	if !p.functionRest(function{async: async, generator: generator}, nil) {
		p.semicolon()
		p.eraseStatement(start)
	}
}

// functionRest reads from the type parameters to the body; false when there is
// no body, which only a signature in TypeScript may have.
func (p *parser) functionRest(fn function, ctor *constructor) (hasBody bool) {
	savedFn, savedFlags := p.fn, p.flags
	p.fn, p.flags = fn, flags{}
	p.push(true)
	p.typeParameters()
	p.parameters(ctor)
	p.returnType()
	switch {
	case p.is("{"):
		p.body(ctor)
		hasBody = true
	case !p.ts:
		p.unexpected("expected {")
	}
	p.pop()
	p.fn, p.flags = savedFn, savedFlags
	return hasBody
}

// body reads the { statements } of a function.
func (p *parser) body(ctor *constructor) {
	p.expect("{")
	if ctor != nil && !ctor.derived {
		p.insert(p.last, ctor.assignments())
	}
	for p.more("}") {
		super := ctor != nil && ctor.derived && p.isWord("super") && p.peek().is("(")
		p.statement()
		if super && len(ctor.properties) > 0 {
			p.insert(p.last, ";"+ctor.assignments())
			ctor.properties = nil
		}
	}
	if ctor != nil && ctor.derived && len(ctor.properties) > 0 {
		p.fail(p.tok.start, "a constructor with parameter properties calls super() as a statement of its own")
	}
	p.expect("}")
}

// parameters reads ( parameters ).
func (p *parser) parameters(ctor *constructor) {
	p.expect("(")
	for p.more(")") {
		p.parameter(ctor)
		if !p.is(")") {
			p.expect(",")
		}
	}
	p.expect(")")
}

func (p *parser) parameter(ctor *constructor) {
	if p.is("@") {
		p.fail(p.tok.start, "decorators are not supported")
	}
	if p.ts && p.isWord("this") {
		start := p.tok.start
		p.next()
		p.annotation()
		if p.is(",") {
			p.erase(start, p.tok.end) // the comma goes with it
			return
		}
		p.erase(start, p.last)
		return
	}
	property := false
	for p.ts && p.tok.oneOf("public", "private", "protected", "readonly", "override") {
		if t := p.peek(); t.kind != name && !t.is("{") && !t.is("[") {
			break
		}
		p.erase(p.tok.start, p.tok.end)
		property = true
		p.next()
	}
	if property && ctor != nil {
		ctor.properties = append(ctor.properties, p.tok.text)
		ctor.all = ctor.properties
	}
	p.take("...")
	p.binding(false)
	if p.ts && p.is("?") {
		p.erase(p.tok.start, p.tok.end)
		p.next()
	}
	p.annotation()
	if p.take("=") {
		p.assignment()
	}
}
