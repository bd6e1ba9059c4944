package typescript

// expression reads expressions with commas between them.
func (p *parser) expression() {
	for {
		p.assignment()
		if !p.take(",") {
			return
		}
	}
}

// assignment reads one expression without a comma.
func (p *parser) assignment() {
	p.enter()
	defer func() { p.depth-- }()
	for p.tok.kind != eof {
		if p.isWord("yield") && p.fn.generator {
			if !p.yield() {
				return
			}
			continue
		}
		if p.arrow() {
			return
		}
		p.binary(0)
		switch {
		case p.is("?"):
			p.next()
			saved := p.flags
			p.flags = flags{branch: true}
			p.assignment()
			p.flags = saved
			p.expect(":")
		case p.assigns():
			p.next()
		default:
			return
		}
	}
}

// yield reads the word; true when an expression follows.
func (p *parser) yield() bool {
	p.next()
	if p.take("*") {
		return true
	}
	if p.tok.newline || p.tok.kind == eof || p.tok.oneOf("in", "of") {
		return false
	}
	for _, end := range [...]string{")", "]", "}", ",", ";", ":"} {
		if p.is(end) {
			return false
		}
	}
	return true
}

// assigns says whether the parser stands on an assignment operator.
func (p *parser) assigns() bool {
	p.greater()
	if p.tok.kind != punct {
		return false
	}
	switch p.tok.text {
	case "=", "+=", "-=", "*=", "/=", "%=", "**=", "<<=", ">>=", ">>>=", "&=", "|=", "^=", "&&=", "||=", "??=":
		return true
	}
	return false
}

const relational = 8 // the binding strength of as and satisfies

// strength is how strongly the operator under the parser binds, 0 for none.
func (p *parser) strength() int {
	p.greater()
	if p.tok.kind == name && !p.tok.escaped {
		switch p.tok.text {
		case "in":
			if p.flags.noIn {
				return 0
			}
			return relational
		case "instanceof":
			return relational
		case "as", "satisfies":
			if p.ts && !p.tok.newline {
				return relational
			}
		}
		return 0
	}
	if p.tok.kind != punct {
		return 0
	}
	switch p.tok.text {
	case "??":
		return 1
	case "||":
		return 2
	case "&&":
		return 3
	case "|":
		return 4
	case "^":
		return 5
	case "&":
		return 6
	case "==", "!=", "===", "!==":
		return 7
	case "<", ">", "<=", ">=":
		return relational
	case "<<", ">>", ">>>":
		return 9
	case "+", "-":
		return 10
	case "*", "/", "%":
		return 11
	case "**":
		return 12
	}
	return 0
}

// binary reads operands with operators that bind more strongly than least.
func (p *parser) binary(least int) {
	start := p.tok.start
	p.unary()
	cast := -1 // the edit of the cast to the left, while that is the last thing read
	for {
		s := p.strength()
		if s <= least {
			return
		}
		if cast >= 0 && s > relational && !p.failed() {
			// (a + b as T) * c: without its type the cast still groups.
			p.edits[cast].lead = ")"
			p.insert(start, "(")
		}
		cast = -1
		if p.tok.kind == name && p.tok.text != "in" && p.tok.text != "instanceof" {
			at := p.last
			p.next()
			p.typ()
			p.erase(at, p.last)
			cast = len(p.edits) - 1
			continue
		}
		p.next()
		if s == 12 {
			s-- // groups to the right
		}
		p.enter()
		p.binary(s)
		p.depth--
	}
}

// unary reads prefix operators and their operand.
func (p *parser) unary() {
	casts := 0
	for prefix := true; prefix && p.tok.kind != eof; {
		switch {
		case p.is("!"), p.is("~"), p.is("+"), p.is("-"), p.is("++"), p.is("--"):
			p.next()
		case p.tok.oneOf("void", "delete"):
			p.next()
		case p.isWord("typeof"):
			p.next()
			if p.isWord("require") && !p.peek().is("(") && !p.peek().is(".") {
				p.next() // only asking whether there is one
				prefix = false
				p.casts(casts)
				return
			}
		case p.isWord("await") && p.awaits():
			p.next()
		case p.ts && p.is("<"):
			// <T>x: the operand is grouped, since the type's lines may stand
			// where JavaScript wants none.
			start := p.tok.start
			p.typeArguments()
			p.replace(start, p.last, "(")
			casts++
		default:
			prefix = false
		}
	}
	p.operand()
	if (p.is("++") || p.is("--")) && !p.tok.newline {
		p.next()
	}
	p.casts(casts)
}

// casts closes the groups that were opened for n type assertions.
func (p *parser) casts(n int) {
	for range n {
		p.insert(p.last, ")")
	}
}

// awaits says whether await is the operator here.
func (p *parser) awaits() bool {
	if p.fn.async {
		return true
	}
	t := p.peek()
	return t.kind == name && !t.newline && !t.oneOf("in", "of", "instanceof", "as", "satisfies")
}

// operand reads a primary expression with members, calls and what else follows.
func (p *parser) operand() {
	if p.isWord("new") {
		p.newExpression()
	} else {
		p.primary()
	}
	p.suffixes(true)
}

// newExpression reads new and its target, with arguments if there are some.
func (p *parser) newExpression() {
	p.enter()
	defer func() { p.depth-- }()
	p.next()
	if p.take(".") {
		p.next()
		return
	}
	if p.isWord("new") {
		p.newExpression()
	} else {
		p.primary()
	}
	p.suffixes(false)
	if p.is("(") {
		p.arguments()
	}
}

// suffixes reads members, and calls where they may stand.
func (p *parser) suffixes(calls bool) {
	for p.tok.kind != eof {
		switch {
		case p.is("."):
			p.next()
			p.memberName()
		case p.is("?.") && calls:
			p.next()
			p.chained()
		case p.is("["):
			p.next()
			p.bracketed(p.expression)
			p.expect("]")
		case p.is("(") && calls:
			p.arguments()
		case p.tok.kind == template:
			p.template(p.expression)
		case p.ts && p.is("!") && !p.tok.newline:
			p.erase(p.tok.start, p.tok.end)
			p.next()
		case p.ts && (p.is("<") || p.is("<<")):
			if !p.typeArgumentsOfCall() {
				return
			}
		default:
			return
		}
	}
}

// chained reads what follows ?. .
func (p *parser) chained() {
	switch {
	case p.is("("), p.is("["), p.tok.kind == template:
		// the loop around reads them
	case p.ts && p.is("<"):
		start := p.tok.start
		p.typeArguments()
		p.erase(start, p.last)
	default:
		p.memberName()
	}
}

func (p *parser) memberName() {
	if p.tok.kind != name && p.tok.kind != private {
		p.unexpected("expected the name of a member")
		return
	}
	p.next()
}

// arguments reads ( arguments ).
func (p *parser) arguments() {
	p.expect("(")
	p.bracketed(func() { p.list(")") })
	p.expect(")")
}

// list reads expressions up to end; they may be spread or left out.
func (p *parser) list(end string) {
	for p.more(end) {
		if p.take(",") {
			continue
		}
		p.take("...")
		p.assignment()
		if !p.is(end) {
			p.expect(",")
		}
	}
}

// template reads a template; hole reads what stands in ${ }.
func (p *parser) template(hole func()) {
	p.enter()
	defer func() { p.depth-- }()
	for i := p.tok.end; i < len(p.src) && !p.failed(); i++ {
		switch {
		case p.src[i] == '\\':
			i++
		case p.src[i] == '`':
			p.tok.end = i + 1
			p.next()
			return
		case p.src[i] == '$' && i+1 < len(p.src) && p.src[i+1] == '{':
			p.tok.end = i + 2
			p.next()
			p.bracketed(hole)
			if !p.is("}") {
				p.unexpected("expected } in the template")
				return
			}
			i = p.tok.end - 1
		}
	}
	if !p.failed() {
		p.fail(p.tok.start, "this template has no end")
	}
}
