package typescript

// scope is where names are bound. Only the names that could be a module
// loader's are kept.
type scope struct {
	parent   *scope
	function bool
	declared []string
	enums    map[string]struct{}
	refs     []reference
}

// reference is a place that asks for a module, or may.
type reference struct {
	at   int
	name string
}

// loader says whether a name is a module loader's, when the program has not
// bound it itself.
func loader(name string) bool { return name == "require" || name == "module" }

func (p *parser) push(function bool) {
	p.scope = &scope{parent: p.scope, function: function}
}

// pop leaves the scope; what it did not bind is asked of the one around.
func (p *parser) pop() {
	s := p.scope
	p.scope = s.parent
	for _, r := range s.refs {
		if !s.binds(r.name) {
			p.scope.refs = append(p.scope.refs, r)
		}
	}
}

func (s *scope) binds(name string) bool {
	for _, d := range s.declared {
		if d == name {
			return true
		}
	}
	return false
}

// declare binds a name in this scope, or in the function's for var.
func (p *parser) declare(name string, hoisted bool) {
	if !loader(name) {
		return
	}
	s := p.scope
	for hoisted && !s.function {
		s = s.parent
	}
	if !s.binds(name) {
		s.declared = append(s.declared, name)
	}
}

// refer notes that the name under the parser is used as a variable.
func (p *parser) refer() {
	switch p.tok.text {
	case "require":
	case "module": // only the pattern of a module, module.exports
		if !p.peek().is(".") {
			return
		}
		at := p.peek().end
		if t := p.scan(at); t.text != "exports" {
			return
		}
	default:
		return
	}
	p.scope.refs = append(p.scope.refs, reference{p.tok.start, p.tok.text})
}

// asksModule notes an import or export.
func (p *parser) asksModule(at int, what string) {
	p.modules = append(p.modules, reference{at, what})
}

// askedModule is the first place that asks for a module. After an error the
// scopes that are still open count too.
func (p *parser) askedModule() (at int, what string, found bool) {
	for p.scope.parent != nil {
		p.pop()
	}
	asked := p.modules
	for _, r := range p.scope.refs {
		if !p.scope.binds(r.name) {
			asked = append(asked, r)
		}
	}
	for _, r := range asked {
		if !found || r.at < at {
			at, what, found = r.at, r.name, true
		}
	}
	return at, what, found
}
