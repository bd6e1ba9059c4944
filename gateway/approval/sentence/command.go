package sentence

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
)

const (
	maxPaths    = 4 // more are counted
	maxPrograms = 6
)

// Command says what a plan does, as far as it was understood. home is the
// person's folder, "" when nobody knows.
func Command(p plan.Plan, home string) Sentence {
	switch {
	case p.Shell == "" && len(p.Programs) == 1 && len(p.Writes) == 0:
		// Nothing but one program with exactly these arguments: no chain, pipe,
		// redirection or substitution, which would have needed a shell.
		return one(p, home)
	case !p.Known:
		return New("command")
	case len(p.Programs) == 0 && len(p.Writes) > 0 && p.OnlyWrites:
		return New("write").With("files", paths(p.Writes, home))
	case len(p.Programs) == 0, len(p.Programs) > maxPrograms, slices.ContainsFunc(p.Writes, unclear):
		return New("command")
	}
	var names []string
	for _, pr := range p.Programs {
		if n := show(pr.Name); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	s := New("command.names").With("programs", strings.Join(names, ", "))
	if len(p.Writes) > 0 {
		s = New("command.write").With("programs", s.Params["programs"]).With("files", paths(p.Writes, home))
	}
	return s
}

// unclear: no place, but words for what is written, which find -delete has.
func unclear(path string) bool { return !filepath.IsAbs(path) }

// one is the sentence about a single program without a shell.
func one(p plan.Plan, home string) Sentence {
	pr := p.Programs[0]
	in := Path(p.Dir, home)
	if p.Known && len(p.Env) == 0 && itself(pr) {
		if s, ok := understood(pr.Name, pr.Argv[1:], p.Dir, home); ok {
			return s
		}
	}
	for _, d := range p.Doubts {
		// Anything else is a doubt about what runs at all: an interpreter, a
		// wrapper, other rights, an image that commands can change.
		if d.Code != "runner" && d.Code != "other-program" {
			return New("command")
		}
	}
	if !p.Known && len(p.Doubts) == 0 {
		return New("command")
	}
	name := pr.Name
	if slices.Contains(parts, name) && len(pr.Argv) > 1 && word(pr.Argv[1]) {
		name += " " + pr.Argv[1]
	}
	return New("program", "program", name).With("folder", in)
}

// itself: the file is the program that its name says, and no link to another one.
func itself(pr plan.Program) bool {
	is := filepath.Base(pr.Path)
	return is == pr.Name || is == "busybox" || is == "toybox" || is == "coreutils"
}

// parts are programs whose first argument says what they do.
var parts = []string{"git", "go", "npm", "cargo", "docker", "podman", "kubectl", "pip", "apt", "apt-get", "brew", "systemctl"}

func word(s string) bool {
	return s != "" && len(s) <= 24 && !strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' }) && s[0] != '-'
}

// understood is the sentence about a program that the plan knows to start
// nothing else. Every option must be one that is known to take no argument of its own and
// to change nothing of what the sentence says.
func understood(name string, args []string, dir, home string) (Sentence, bool) {
	r, ok := recipes(name)
	if !ok {
		return Sentence{}, false
	}
	if r.plain != nil {
		return r.plain(name, args, dir, home)
	}
	options, rest, ok := r.read(args)
	if !ok || len(rest) < r.least || r.most > 0 && len(rest) > r.most || slices.Contains(rest, "-") || slices.Contains(rest, "") ||
		slices.Contains(rest, plan.Unknown) {
		return Sentence{}, false
	}
	c := r.code
	if r.more != "" && strings.ContainsAny(options, r.more) {
		c = r.moreCode
	}
	s := New(c)
	if r.first != "" {
		s = s.With(r.first, quoted(rest[0]))
		rest = rest[1:]
	}
	if r.last != "" {
		s = s.With(r.last, Path(absolute(rest[len(rest)-1], dir), home))
		rest = rest[:len(rest)-1]
	}
	if len(rest) == 0 {
		rest = []string{dir}
	}
	for i, p := range rest {
		rest[i] = absolute(p, dir)
	}
	return s.With("paths", paths(rest, home)), true
}

func quoted(s string) string { return "“" + show(s) + "”" }

func absolute(path, dir string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// paths lists some and counts the rest; all of them stand in the command.
func paths(list []string, home string) string {
	more := ""
	if len(list) > maxPaths {
		more = " (+" + itoa(len(list)-maxPaths) + ")"
		list = list[:maxPaths]
	}
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = Path(p, home)
	}
	return strings.Join(out, ", ") + more
}
