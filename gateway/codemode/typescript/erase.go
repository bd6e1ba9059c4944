package typescript

// typeStatement reads a statement that only TypeScript has; false when the
// word begins none.
func (p *parser) typeStatement() bool {
	start, after := p.tok.start, p.peek()
	sameLine := !after.newline
	switch p.tok.text {
	case "type":
		if after.kind != name || !sameLine || after.oneOf("in", "instanceof", "of", "as", "satisfies") && !p.aliasAfter(after) {
			return false
		}
		p.next()
		p.alias(start)
	case "interface":
		if after.kind != name || !sameLine {
			return false
		}
		p.interfaceDeclaration(start)
	case "enum":
		p.enum(start)
	case "abstract":
		if !after.word("class") || !sameLine {
			return false
		}
		p.erase(start, p.tok.end)
		p.next()
		p.class(true, false)
	case "namespace", "module":
		if after.kind != name && (after.kind != text || p.isWord("namespace")) || !sameLine {
			return false
		}
		p.fail(start, "namespaces with code in them are not supported: use an object or a class")
	case "declare":
		if after.kind != name || !sameLine {
			return false
		}
		p.next()
		p.ambient(start)
	default:
		return false
	}
	return true
}

// aliasAfter says whether a type alias has the name t, which is also a word of
// the language: type as = ...
func (p *parser) aliasAfter(t token) bool {
	next := p.scan(t.end)
	return next.is("=") || next.is("<")
}

// alias reads type Name<T> = Type.
func (p *parser) alias(start int) {
	p.next()
	p.typeParameters()
	p.expect("=")
	p.typ()
	p.semicolon()
	p.eraseStatement(start)
}

func (p *parser) interfaceDeclaration(start int) {
	p.next()
	p.next()
	p.typeParameters()
	if p.takeWord("extends") {
		p.typeList()
	}
	p.objectType()
	p.eraseStatement(start)
}

// ambient reads what follows declare; nothing of it exists at run time.
func (p *parser) ambient(start int) {
	p.push(true) // what it declares binds no name of the program
	switch {
	case p.tok.oneOf("namespace", "module", "global"):
		for p.tok.kind != eof && !p.is("{") && !p.is(";") {
			p.next()
		}
		if p.is("{") {
			p.braces()
		} else {
			p.semicolon()
		}
	case p.isWord("class"):
		p.class(true, true)
	case p.isWord("abstract") && p.peek().word("class"):
		p.next()
		p.class(true, true)
	case p.tok.oneOf("var", "let", "const", "function", "async", "enum", "type", "interface"):
		p.statement()
	default:
		p.unexpected("expected a declaration")
	}
	p.scope.refs = nil
	p.pop()
	p.eraseStatement(start)
}

// braces passes over a balanced { ... } of declarations.
func (p *parser) braces() {
	for depth := 0; p.tok.kind != eof; p.next() {
		for p.tok.kind == template {
			p.template(p.typ)
		}
		switch {
		case p.is("{"):
			depth++
		case p.is("}"):
			if depth--; depth == 0 {
				p.next()
				return
			}
		}
	}
	p.unexpected("expected }")
}

// enum writes an enumeration out as the object that it is at run time. Every
// member is bound inside as well, so that later ones can name it.
func (p *parser) enum(start int) {
	p.takeWord("const")
	p.next()
	id := p.tok.text
	if p.tok.kind != name {
		p.unexpected("expected a name")
		return
	}
	p.declare(id, false)
	head := "let " + id + ";"
	if p.scope.function {
		head = "var " + id + ";"
	}
	if _, known := p.scope.enums[id]; known {
		head = ""
	}
	if p.scope.enums == nil {
		p.scope.enums = map[string]struct{}{}
	}
	p.scope.enums[id] = struct{}{}
	p.next()
	p.expect("{")
	p.replace(start, p.last, head+"(function($e){let $v=-1;")
	p.push(true)
	wasText := false
	for p.more("}") {
		wasText = p.enumMember(wasText)
	}
	p.pop()
	at := p.tok.start
	p.expect("}")
	p.replace(at, at+1, "})("+id+"||("+id+"={}));")
}

// enumMember writes one member out; it says whether its value is a text.
func (p *parser) enumMember(afterText bool) (isText bool) {
	start, key, bound := p.tok.start, "", ""
	switch {
	case p.tok.kind == name && !p.tok.escaped:
		key = `"` + p.tok.text + `"`
		if !reserved(p.tok.text) {
			bound = "const " + p.tok.text + "="
		}
	case p.tok.kind == text:
		key = p.tok.text
	default:
		p.unexpected("expected the name of a member")
		return false
	}
	p.next()
	if p.take("=") {
		isText = p.tok.kind == text || p.tok.kind == template
		p.replace(start, p.last, bound+"$v=(")
		p.assignment()
	} else {
		if afterText {
			p.fail(start, "the member after one with a text needs a value of its own")
		}
		p.replace(start, p.last, bound+"$v=($v+1")
	}
	done := `);typeof $v=="string"?$e[` + key + `]=$v:$e[$e[` + key + `]=$v]=` + key + `;`
	if p.is(",") {
		p.replace(p.tok.start, p.tok.end, done)
		p.next()
	} else if p.is("}") {
		p.insert(p.last, done)
	} else {
		p.unexpected("expected , or }")
	}
	return isText
}

// reserved says whether a member's name cannot be that of a constant.
func reserved(word string) bool {
	switch word {
	case "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do",
		"else", "enum", "export", "extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof",
		"let", "new", "null", "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof", "var",
		"void", "while", "with", "yield", "eval", "arguments", "implements", "interface", "package", "private",
		"protected", "public", "undefined":
		return true
	}
	return false
}
