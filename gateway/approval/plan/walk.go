package plan

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker goes through one command in the order of its text and writes down what
// it finds. What it does not know is a doubt: every switch ends in one.
type walker struct {
	ctx context.Context
	r   *Resolver
	p   *Plan

	// dirs is every folder that the shell may be in here, nil if nobody knows;
	// good those it may be in if the last statement succeeded.
	dirs, good []string
	seen       *folders
	step       int // simple commands so far
	// writers are steps that may change files; loose are programs that commands
	// may change.
	writers []int
	acts    bool // some program changes more than the plan's Writes say
	loose   []loose
	at      map[string]where // of programs, within this plan
}

type loose struct {
	step int
	name string
}

// maxDoubts are more than anybody reads.
const maxDoubts = 40

func (w *walker) doubt(code, words string) {
	w.p.Known = false
	if code != "other-program" {
		w.passing() // what runs is decided when it runs: remembering that would be a blank cheque
	}
	d := Doubt{code, strings.ReplaceAll(words, "\n", newline)} // names in it must not make lines
	if len(w.p.Doubts) < maxDoubts && !slices.Contains(w.p.Doubts, d) {
		w.p.Doubts = append(w.p.Doubts, d)
	}
}

func (w *walker) passing() { w.p.Lasting = false }

// finish draws what can only be said of the whole.
func (w *walker) finish() {
	for _, l := range w.loose {
		if slices.ContainsFunc(w.writers, func(step int) bool { return step != l.step }) {
			w.doubt("replaceable", "another part of the command could replace "+Show(l.name)+" before it runs")
		}
	}
	if w.ctx.Err() == nil && w.p.Doubts == nil && !w.p.Known {
		w.doubt("unreadable", "holds something that Hearth cannot read for certain")
	}
	w.p.OnlyWrites = w.p.Known && !w.acts && !slices.ContainsFunc(w.p.Writes, func(path string) bool { return !filepath.IsAbs(path) })
}

func (w *walker) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *walker) stmt(s *syntax.Stmt) {
	if len(s.Comments) > 0 {
		w.doubt("comment", "has a comment in it")
	}
	if s.Coprocess || s.Disown {
		w.doubt("construct", "starts a process that runs beside the shell")
	}
	w.redirections(s)
	before := w.dirs
	w.good = before
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		w.call(c)
	case *syntax.BinaryCmd:
		w.binary(c)
	case *syntax.Block:
		w.stmts(c.Stmts)
		w.comments(c.Last)
	case *syntax.Subshell:
		w.stmts(c.Stmts)
		w.comments(c.Last)
		w.stay(before)
	default:
		w.construct(c)
	}
	if s.Background {
		w.stay(before)
	}
	if s.Negated {
		w.good = w.dirs // "! cd x && y": y runs where the cd failed
	}
}

// stay: what happened was in a process of its own, the shell is where it was.
func (w *walker) stay(dirs []string) { w.dirs, w.good = dirs, dirs }

// lost: nobody knows where the shell is.
func (w *walker) lost() { w.dirs, w.good = nil, nil }

func (w *walker) comments(list []syntax.Comment) {
	if len(list) > 0 {
		w.doubt("comment", "has a comment in it")
	}
}

func (w *walker) binary(c *syntax.BinaryCmd) {
	before := w.dirs
	w.stmt(c.X)
	dirs, good := w.dirs, w.good
	switch c.Op {
	case syntax.AndStmt: // the right side runs only where the left side succeeded
		w.dirs = good
		w.stmt(c.Y)
		w.dirs = either(dirs, w.dirs)
	case syntax.OrStmt:
		w.stmt(c.Y)
		w.dirs, w.good = either(dirs, w.dirs), either(good, w.good)
	case syntax.Pipe:
		w.dirs = before
		w.stmt(c.Y)
		w.stay(either(before, w.dirs)) // some shells run the last part themselves
	default:
		w.doubt("construct", "uses "+c.Op.String()+", which shells read differently")
		w.stmt(c.Y)
		w.lost()
	}
}

// construct lists the programs in what is not in the positive list, so that a
// person sees them, and doubts it.
func (w *walker) construct(node syntax.Node) {
	switch node.(type) {
	case *syntax.FuncDecl:
		w.doubt("function", "defines a function, which changes what later words mean")
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		w.doubt("construct", "branches or repeats, so what runs is decided only when it runs")
	case *syntax.DeclClause, *syntax.LetClause:
		w.doubt("environment", "sets variables, which changes what later parts mean")
	default:
		w.doubt("construct", "uses a construct that shells read differently")
	}
	w.lost()
	w.inside(node)
	w.lost()
}

// inside looks for commands in the parts of a node.
func (w *walker) inside(node syntax.Node) {
	top := true
	syntax.Walk(node, func(n syntax.Node) bool {
		if w.ctx.Err() != nil {
			return false
		}
		if s, ok := n.(*syntax.Stmt); ok && !top {
			w.stmt(s)
			return false
		}
		if n != nil {
			top = false
		}
		return true
	})
}

func (w *walker) call(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		w.assignment(a)
	}
	if len(c.Args) == 0 {
		return
	}
	argv := make([]string, 0, len(c.Args))
	for i, word := range c.Args {
		text, why := literal(word)
		if why != nil {
			w.doubt(why.Code, why.Words)
			w.inside(word)
			if i == 0 {
				w.lost() // it might be a cd
				return
			}
			text = Unknown
		}
		argv = append(argv, text)
	}
	w.step++
	w.simple(argv)
}

// Unknown stands in Program.Argv for an argument that is decided when it runs.
const Unknown = "…"

func (w *walker) assignment(a *syntax.Assign) {
	if a.Name != nil && a.Value != nil && a.Array == nil && a.Index == nil && !a.Append && !a.Naked {
		value, why := literal(a.Value)
		if why == nil && harmless(a.Name.Value, value) {
			return
		}
	}
	name := ""
	if a.Name != nil {
		name = a.Name.Value
	}
	if name != "" && a.Value == nil && a.Array == nil && harmless(name, "") {
		return
	}
	w.doubt("environment", "sets the variable "+Show(name)+", which may change what runs")
	w.inside(a)
}

// redirections notes what a statement writes to.
func (w *walker) redirections(s *syntax.Stmt) {
	for _, rd := range s.Redirs {
		if rd.N != nil && (len(rd.N.Value) != 1 || rd.N.Value[0] < '0' || rd.N.Value[0] > '9') {
			w.doubt("redirection", "uses a redirection that shells read differently")
		}
		if rd.Hdoc != nil {
			w.inside(rd.Hdoc)
		}
		switch rd.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrInOut, syntax.RdrIn:
			w.redirect(rd)
		case syntax.DplOut, syntax.DplIn:
			to, why := literal(rd.Word)
			if why != nil || to != "-" && (len(to) != 1 || to[0] < '0' || to[0] > '9') {
				w.doubt("redirection", "uses a redirection that shells read differently")
				w.inside(rd.Word)
			}
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			w.doubt("heredoc", "brings its own input text (<<)")
			w.inside(rd.Word)
		default:
			w.doubt("redirection", "uses a redirection that shells read differently")
			w.inside(rd.Word)
		}
	}
}

func (w *walker) redirect(rd *syntax.Redirect) {
	to, why := literal(rd.Word)
	if why != nil {
		w.doubt(why.Code, why.Words)
		w.inside(rd.Word)
		if rd.Op != syntax.RdrIn {
			w.writes(Unknown)
		}
		return
	}
	clean := filepath.Clean(to)
	if strings.HasPrefix(clean, "/dev/tcp") || strings.HasPrefix(clean, "/dev/udp") {
		w.doubt("network", "opens a network connection through "+Show(to))
		return
	}
	if rd.Op == syntax.RdrIn || clean == "/dev/null" {
		return
	}
	if !filepath.IsAbs(to) {
		dir, ok := w.dir()
		if !ok {
			w.doubt("folder", "writes to "+Show(to)+" in a folder that is decided only when it runs")
			w.writes(to)
			return
		}
		clean = filepath.Join(dir, to)
	}
	w.writes(clean)
}

func (w *walker) writes(path string) {
	// A step of its own: it happens whatever the command beside it does.
	w.writers = append(w.writers, -1)
	if !slices.Contains(w.p.Writes, path) {
		w.p.Writes = append(w.p.Writes, path)
	}
}

// dir is the folder that the shell is in, if there is only one it can be in.
func (w *walker) dir() (string, bool) {
	if len(w.dirs) != 1 {
		return "", false
	}
	return w.dirs[0], true
}

// cd works out where a cd may lead to: good if it succeeds, and dirs whatever
// comes of it.
func (w *walker) cd(to string) {
	from := w.dirs
	if filepath.IsAbs(to) {
		from = []string{"/"} // wherever it was
	}
	w.good = nil
	if len(from) == 0 || len(from) > 16 {
		w.dirs = nil
		return
	}
	var good []string
	for _, d := range from {
		next := filepath.Clean(to)
		if !filepath.IsAbs(to) {
			next = filepath.Join(d, to)
		}
		// Through a link the shells' idea of ".." and the kernel's part ways.
		real, err := filepath.EvalSymlinks(next)
		if err != nil || real != next {
			w.dirs = nil
			return
		}
		good = union(good, []string{next})
	}
	w.good, w.dirs = good, either(w.dirs, good)
}

// either is where the shell may be after one or the other.
func either(a, b []string) []string {
	if a == nil || b == nil {
		return nil
	}
	return union(a, b)
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// alone: the text is one program with its arguments, whatever its input and
// output are.
func alone(list []*syntax.Stmt, p *Plan, steps int) bool {
	if len(list) != 1 || steps != 1 || len(p.Programs) != 1 {
		return false
	}
	c, ok := list[0].Cmd.(*syntax.CallExpr)
	return ok && !list[0].Negated && !list[0].Background && len(c.Assigns) == 0 && len(c.Args) == len(p.Programs[0].Argv)
}

// direct turns a text that is nothing but one program with its arguments into
// those arguments: without a shell there is less between the yes and the deed.
func (w *walker) direct(list []*syntax.Stmt) {
	p := w.p
	if len(list) != 1 || len(p.Programs) == 0 || w.step != 1 {
		return
	}
	s := list[0]
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || len(s.Redirs) > 0 || len(c.Assigns) > 0 || len(s.Comments) > 0 {
		return
	}
	for i, word := range c.Args {
		text, why := literal(word)
		if why != nil || i >= len(p.Programs[0].Argv) || p.Programs[0].Argv[i] != text {
			return // a builtin in front, or something that a shell must expand
		}
	}
	if p.Programs[0].Path == "" || len(c.Args) != len(p.Programs[0].Argv) || slices.ContainsFunc(p.Doubts, shells) {
		return
	}
	p.Shell, p.shellHash, p.Argv = "", [32]byte{}, p.Programs[0].Argv
}

// shells: doubts about the text itself, which only a shell can settle.
func shells(d Doubt) bool {
	switch d.Code {
	case "comment", "continuation", "characters", "shell", "unreadable":
		return true
	}
	return false
}
