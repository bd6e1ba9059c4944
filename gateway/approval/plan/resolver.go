package plan

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Options of a Resolver.
type Options struct {
	// Path is where programs are looked up. Folders that others than root may
	// write to are left out. Nil: the usual folders of the system.
	Path []string
	// Own are folders that the owner added to the front. They may be writable, so
	// what is found there is never remembered.
	Own []string
	// Home is the HOME that commands get: git reads its settings there.
	Home string
	// Confined: commands run where the system's folders are read-only even for
	// root. Otherwise one of root's commands could replace the next one's program.
	Confined bool
	// Now is the clock, for not trusting a file that was changed just now.
	Now func() time.Time
}

// Resolver makes plans. It keeps the hashes of files between them and may be
// used by many at once.
type Resolver struct {
	path, own []string
	home      string
	now       func() time.Time
	rooted    bool // commands run as root and may write to the system's folders
	shadowed  bool // commands may write to a folder that is searched first
	foreign   bool // Windows: no shell here is understood

	parsers       sync.Pool
	hashes        hashCache
	looks         lookCache
	dirs          dirCache
	settings      settingsCache
	kept, watched []string // folders whose programs are kept, and those with all above them
	trusted       func(path string) bool
}

// New returns a Resolver.
func New(o Options) *Resolver {
	if o.Path == nil {
		o.Path = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Resolver{home: o.Home, now: o.Now, own: slices.Clone(o.Own), trusted: systemOwned}
	r.rooted = os.Geteuid() == 0 && !o.Confined
	r.foreign = filepath.Separator != '/'
	for _, dir := range r.own {
		r.shadowed = r.shadowed || !r.trusted(dir)
	}
	for _, dir := range o.Path {
		if !filepath.IsAbs(dir) || !r.trusted(dir) {
			continue
		}
		// /bin is /usr/bin on most systems: once is enough.
		if real, err := filepath.EvalSymlinks(dir); err == nil && !slices.Contains(r.path, real) {
			r.path = append(r.path, real)
		}
	}
	r.hashes.now = o.Now
	r.kept = slices.Clone(r.path)
	if r.trusted("/bin") && !slices.Contains(r.kept, "/bin") {
		r.kept = append(r.kept, "/bin") // where shells are
	}
	r.watched = watched(r.kept)
	return r
}

// SearchPath is the PATH that commands must get: the plan is true only with it.
func (r *Resolver) SearchPath() string {
	return strings.Join(slices.Concat(r.own, r.path), string(os.PathListSeparator))
}

// Resolve says what a request will run.
func (r *Resolver) Resolve(ctx context.Context, req Request) (Plan, error) {
	if err := check(req); err != nil {
		return Plan{}, err
	}
	p := Plan{Command: req.Command, Known: true, Lasting: true, request: clone(req)}
	var err error
	if p.Dir, p.dirID, err = r.folder(req.Dir); err != nil {
		return Plan{}, err
	}
	w := &walker{ctx: ctx, r: r, p: &p, dirs: []string{p.Dir}, at: map[string]where{}, seen: r.folders()}
	w.environment(req.Env)
	if req.Command == "" {
		p.Argv = slices.Clone(req.Argv)
		w.step++
		if slices.ContainsFunc(p.Argv, hidden) {
			w.doubt("characters", "holds invisible or misleading characters")
		}
		w.program(p.Argv, 0)
		p.Alone = len(p.Programs) == 1 && len(req.Env) == 0
	} else if err := r.text(w, req); err != nil {
		return Plan{}, err
	}
	if err := ctx.Err(); err != nil {
		return Plan{}, fmt.Errorf("plan a command: %w", err)
	}
	w.finish()
	p.Digest = p.digest()
	return p, nil
}

// Verify makes the plan again and compares: nil means that what would run now is
// what was planned. It is called right before the command is started.
func (r *Resolver) Verify(ctx context.Context, p Plan) error {
	now, err := r.Resolve(ctx, p.request)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	// The digest in hand may be from anywhere; the plan's own fields must match it too.
	if now.Digest != p.Digest || p.digest() != p.Digest {
		return fmt.Errorf("%w: %s", ErrChanged, difference(p, now))
	}
	return nil
}

func difference(was, now Plan) string {
	if was.Dir != now.Dir || was.dirID != now.dirID {
		return "the folder " + oneLine(was.Dir) + " is another one now"
	}
	for i, p := range was.Programs {
		if i < len(now.Programs) && now.Programs[i].Path != p.Path {
			return oneLine(p.Name) + " is another program now"
		}
		if i < len(now.Programs) && now.Programs[i].Hash != p.Hash {
			return oneLine(p.Path) + " has another content now"
		}
	}
	for i, s := range was.Scripts {
		if i < len(now.Scripts) && now.Scripts[i] != s {
			return "the script " + oneLine(s.Path) + " has another content now"
		}
	}
	return "ask again"
}

// text reads a command as the shell will.
func (r *Resolver) text(w *walker, req Request) error {
	p := w.p
	if req.Shell == "" {
		req.Shell = "/bin/sh"
	}
	p.Shell = filepath.Clean(req.Shell)
	shell := r.look(w.ctx, w.seen, p.Shell, p.Shell)
	if shell.err != nil {
		return fmt.Errorf("%w: the shell %s: %w", ErrRequest, Show(p.Shell), shell.err)
	}
	p.shellHash = shell.hash
	lang, ok := dialect(p.Shell, shell.path)
	if !ok || r.foreign {
		w.doubt("shell", "is text for "+Show(filepath.Base(p.Shell))+", which Hearth cannot read for certain")
		return nil
	}
	if !shell.system {
		w.doubt("shell", "runs in a shell outside the system's folders")
	}
	w.odd(req.Command)
	if deep(req.Command) {
		w.doubt("unreadable", "is nested too deeply to be read")
		return nil
	}
	file, err := r.parse(req.Command, lang)
	if err != nil {
		w.doubt("unreadable", "is not something that Hearth can read as shell text")
		return nil
	}
	w.stmts(file.Stmts)
	w.comments(file.Last)
	p.Alone = len(req.Env) == 0 && alone(file.Stmts, p, w.step)
	w.direct(file.Stmts)
	return nil
}

func (r *Resolver) parse(text string, lang syntax.LangVariant) (*syntax.File, error) {
	parser, _ := r.parsers.Get().(*syntax.Parser)
	if parser == nil {
		parser = syntax.NewParser(syntax.KeepComments(true))
	}
	defer r.parsers.Put(parser)
	syntax.Variant(lang)(parser)
	file, err := parser.Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, fmt.Errorf("read a command: %w", err)
	}
	return file, nil
}

func check(req Request) error {
	if (req.Command == "") == (len(req.Argv) == 0) {
		return fmt.Errorf("%w: it needs either a text or a list of arguments", ErrRequest)
	}
	if !filepath.IsAbs(req.Dir) {
		return fmt.Errorf("%w: its folder must be an absolute path", ErrRequest)
	}
	if req.Shell != "" && !filepath.IsAbs(req.Shell) {
		return fmt.Errorf("%w: its shell must be an absolute path", ErrRequest)
	}
	all := append([]string{req.Command, req.Dir, req.Shell}, req.Argv...)
	for name, value := range req.Env {
		if !variableName(name) {
			return fmt.Errorf("%w: %s is not the name of a variable", ErrRequest, Show(fmt.Sprintf("%.40q", name)))
		}
		all = append(all, name, value)
	}
	size := 0
	for _, s := range all {
		size += len(s)
		if size > MaxBytes {
			return ErrTooLong
		}
		if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
			return ErrText
		}
	}
	if len(req.Argv) > 0 && req.Argv[0] == "" {
		return fmt.Errorf("%w: its first argument is empty", ErrRequest)
	}
	return nil
}

func clone(req Request) Request {
	req.Argv, req.Env = slices.Clone(req.Argv), maps.Clone(req.Env)
	return req
}

// folder follows the links of a folder now, so that a later change of one of
// them is seen as another folder.
func (r *Resolver) folder(dir string) (string, identity, error) {
	real, id, err := r.dirs.real(filepath.Clean(dir))
	if err != nil {
		return "", identity{}, fmt.Errorf("%w: the folder %s: %w", ErrRequest, Show(dir), err)
	}
	return real, identity{dev: id.dev, ino: id.ino}, nil
}

// dialect says how to read text for a shell, and whether it can be at all.
func dialect(shell, real string) (syntax.LangVariant, bool) {
	switch name := filepath.Base(real); name {
	case "bash":
		if filepath.Base(shell) == "bash" {
			return syntax.LangBash, true
		}
		return syntax.LangPOSIX, true // bash as sh; what the two read differently is a doubt in either
	case "sh", "dash", "ash":
		return syntax.LangPOSIX, true
	case "busybox":
		base := filepath.Base(shell)
		return syntax.LangPOSIX, base == "sh" || base == "ash"
	}
	return syntax.LangPOSIX, false
}

func shellName(shell string) string { return filepath.Base(shell) }

// deep bounds the parser's recursion.
func deep(text string) bool {
	n := 0
	for _, c := range []byte(text) {
		if c == '(' || c == '{' || c == '`' || c == '[' {
			n++
		}
	}
	return n > 200 || strings.Count(text, "if")+strings.Count(text, "do")+strings.Count(text, "case")+strings.Count(text, "!") > 500
}
