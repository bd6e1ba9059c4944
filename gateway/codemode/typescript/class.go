package typescript

import "strings"

// constructor is a class's constructor while it is read: its parameters that
// are properties as well are assigned at the top of the body, or after super.
type constructor struct {
	derived    bool
	properties []string // still to be assigned
	all        []string
}

func (c *constructor) assignments() string {
	var b strings.Builder
	for _, name := range c.properties {
		b.WriteString("this." + name + "=" + name + ";")
	}
	return b.String()
}

// class reads a class from its keyword.
func (p *parser) class(declaration, ambient bool) {
	p.next()
	p.push(false)
	if p.tok.kind == name && !p.tok.oneOf("extends", "implements") {
		p.declare(p.tok.text, false)
		if declaration {
			p.scope.parent.declareIn(p, p.tok.text)
		}
		p.next()
	}
	p.typeParameters()
	derived := false
	if p.takeWord("extends") {
		derived = true
		p.bracketed(func() { p.operand() })
	}
	if p.ts && p.isWord("implements") {
		start := p.tok.start
		p.next()
		p.typeList()
		p.erase(start, p.last)
	}
	p.expect("{")
	saved, open := p.flags, p.last
	p.flags = flags{}
	for p.more("}") {
		if c := p.member(derived, ambient); c != nil && len(c.all) > 0 {
			p.insert(open, strings.Join(c.all, ";")+";") // they come first among the fields
		}
	}
	p.flags = saved
	p.expect("}")
	p.pop()
}

// declareIn binds a name in a scope that is not the innermost.
func (s *scope) declareIn(p *parser, name string) {
	here := p.scope
	p.scope = s
	p.declare(name, false)
	p.scope = here
}

// memberWords come before a member's name; all but the kept ones go.
var memberWords = [...]string{"public", "private", "protected", "readonly", "override", "abstract", "declare", "static", "accessor"}

// member reads one member of a class.
func (p *parser) member(derived, ambient bool) *constructor {
	p.enter()
	defer func() { p.depth-- }()
	if p.take(";") {
		return nil
	}
	start, gone := p.tok.start, ambient
	if p.is("@") {
		p.fail(start, "decorators are not supported")
	}
	static, lead := false, -1
	for p.tok.oneOf(memberWords[:]...) && p.modifies() {
		switch {
		case p.isWord("static"):
			static = true
		case p.isWord("accessor"):
			if p.ts {
				p.fail(p.tok.start, "accessor fields are not supported")
			}
		default:
			gone = gone || p.isWord("abstract") || p.isWord("declare")
			p.erase(p.tok.start, p.tok.end)
			if p.tok.start == start {
				lead = len(p.edits) - 1
			}
		}
		p.next()
	}
	if static && p.is("{") {
		p.staticBlock()
		return nil
	}
	if p.ts && p.indexSignature() {
		p.semicolon()
		p.eraseStatement(start)
		return nil
	}
	if lead >= 0 && lead < len(p.edits) && (p.is("[") || p.is("*") || p.tok.oneOf("in", "instanceof")) {
		p.edits[lead].lead = ";" // or it would continue the line before
	}
	var ctor *constructor
	if p.isWord("constructor") && !static {
		ctor = &constructor{derived: derived}
	}
	if p.memberRest(ctor) && !gone {
		return ctor
	}
	p.eraseStatement(start)
	return nil
}

// modifies says whether the word under the parser is a modifier and not the
// member's name.
func (p *parser) modifies() bool {
	t := p.peek()
	if !p.ts && !p.isWord("static") && !p.isWord("accessor") {
		return false
	}
	switch t.kind {
	case name, text, number, private:
		return !t.newline || p.isWord("static") || !p.isWord("declare") && !p.isWord("abstract") && !p.isWord("accessor") && !p.isWord("readonly")
	case punct:
		return t.is("[") || t.is("*") || t.is("{") && p.isWord("static")
	}
	return false
}

func (p *parser) staticBlock() {
	saved := p.fn
	p.fn = function{}
	p.push(true)
	p.body(nil)
	p.pop()
	p.fn = saved
}

// memberRest reads a member from its name; false when it is only a signature.
func (p *parser) memberRest(ctor *constructor) (real bool) {
	var fn function
	if p.isWord("async") && !p.endsName(p.peek()) && !p.peek().newline {
		fn.async = true
		p.next()
	}
	if p.take("*") {
		fn.generator = true
	}
	if !fn.async && !fn.generator && p.tok.oneOf("get", "set") && !p.endsName(p.peek()) {
		p.next()
	}
	p.propertyName()
	for p.ts && (p.is("?") || p.is("!")) {
		p.erase(p.tok.start, p.tok.end)
		p.next()
	}
	if p.is("(") || p.ts && p.is("<") {
		if p.functionRest(fn, ctor) {
			return true
		}
		p.semicolon()
		return false
	}
	p.annotation()
	if p.take("=") {
		saved := p.fn
		p.fn = function{}
		p.assignment()
		p.fn = saved
	}
	p.semicolon()
	return true
}

// endsName says whether the word before t was a member's whole name.
func (p *parser) endsName(t token) bool {
	switch t.kind {
	case punct:
		return !t.is("[") && !t.is("*")
	case eof:
		return true
	}
	return false
}

// indexSignature reads [key: type]: type, which has no place at run time.
func (p *parser) indexSignature() bool {
	if !p.is("[") || p.peek().kind != name {
		return false
	}
	m := p.mark()
	p.next()
	p.next()
	if !p.is(":") {
		p.back(m)
		return false
	}
	p.annotation()
	p.expect("]")
	p.annotation()
	return true
}
