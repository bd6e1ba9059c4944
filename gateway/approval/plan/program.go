package plan

import (
	"errors"
	"path/filepath"
	"strings"
)

// class is what is known of a program by its name.
type class byte

const (
	other       class = iota // nothing: it may start anything
	reader                   // starts nothing and changes no file
	writer                   // starts nothing
	wrapper                  // starts its arguments, see wrappers
	runner                   // starts others in ways that are not read here
	interpreter              // runs code
)

// program notes one program that will be started with argv, and what it starts
// in turn. depth is how many wrappers are around it.
func (w *walker) program(argv []string, depth int) {
	if w.ctx.Err() != nil {
		return
	}
	if argv[0] == "" || !commandName(filepath.ToSlash(argv[0])) && w.p.Command != "" {
		w.doubt("characters", "starts something whose name has unusual characters: "+Show(argv[0]))
		return
	}
	found := w.locate(argv[0])
	name := baseName(argv[0])
	w.p.Programs = append(w.p.Programs, Program{Argv: argv, Name: name, Path: found.path, Hash: found.hash, Named: found.named})
	if errors.Is(found.err, errNowhere) {
		w.doubt("folder", "starts "+Show(argv[0])+", and "+found.err.Error())
		return
	}
	if found.err != nil {
		w.doubt("missing", Show(argv[0])+": "+found.err.Error())
		return
	}
	w.image(argv[0], found)
	if depth > maxDepth {
		w.doubt("wrapper", "too many programs stand around each other")
		return
	}
	w.behaviour(name, found, argv, depth)
}

// locate remembers within one plan, so that one plan speaks of one file.
func (w *walker) locate(name string) where {
	dir, _ := w.dir()
	key := name
	if strings.ContainsAny(name, `/\`) {
		key = dir + "\x00" + name
	}
	found, ok := w.at[key]
	if !ok {
		found = w.r.find(w.ctx, w.seen, name, dir)
		w.at[key] = found
	}
	return found
}

// image judges the file itself.
func (w *walker) image(name string, found where) {
	switch {
	case found.kind == kindScript:
		w.doubt("script", Show(name)+" is a script; what it starts is decided by its text")
		w.p.Scripts = append(w.p.Scripts, File{found.path, found.hash, found.named})
	case found.kind != kindNative:
		w.doubt("format", Show(name)+" is not a program that the system starts itself")
	}
	if ext := strings.ToLower(filepath.Ext(found.path)); ext == ".bat" || ext == ".cmd" {
		w.doubt("script", Show(name)+" is a batch file, which reads its arguments as commands")
	}
	if found.setuid {
		w.doubt("privileged", Show(name)+" runs with the rights of another user")
	}
	if !found.system {
		w.doubt("outside", Show(name)+" is not one of the system's programs, and can be changed by commands")
	}
	// Another program of the same name could be put in front of it as well.
	if !found.system || w.r.rooted || w.r.shadowed && !strings.ContainsAny(name, `/\`) {
		w.loose = append(w.loose, loose{w.step, name})
	}
}

// behaviour judges what the program will do with its arguments.
func (w *walker) behaviour(name string, found where, argv []string, depth int) {
	target := baseName(found.path)
	c := classOf(name)
	if many := target == "busybox" || target == "toybox" || target == "coreutils"; many && target != name {
		if c == wrapper && target != "coreutils" {
			c = runner // takes other options than the grammars know
		}
	} else if target != name {
		// A link: what it leads to counts as well, and the worse of the two.
		c = worse(c, classOf(target))
	}
	if c != reader {
		w.writers = append(w.writers, w.step)
		w.acts = w.acts || !(name == "git" && target == "git") // what git does is said below
	}
	for _, a := range argv[1:] {
		if a == Unknown && c != reader && c != writer {
			w.doubt("arguments", "gives "+Show(name)+" arguments that are decided only when it runs")
		}
	}
	switch c {
	case reader, writer:
		w.arguments(name, argv[1:])
	case wrapper:
		w.passing()
		w.wrapped(name, argv, depth)
	case interpreter:
		w.passing()
		w.interpret(name, argv)
	case runner:
		if name == "git" && target == "git" && w.git(argv) {
			return
		}
		w.acts = true
		w.passing()
		w.doubt("runner", Show(name)+" can start other programs, by its arguments or by files in the folder")
	default:
		w.doubt("other-program", Show(name)+" is not a program that Hearth knows; it may start others")
		for _, a := range argv[1:] {
			if w.namesProgram(a) {
				w.passing() // it may well be a wrapper, and what it wraps is not hashed
			}
		}
	}
}

// namesProgram: an argument of an unknown program is, or holds, the name of one.
func (w *walker) namesProgram(arg string) bool {
	for _, part := range strings.FieldsFunc(arg, func(c rune) bool { return strings.ContainsRune("=:,;|& \t\n!", c) }) {
		if !strings.HasPrefix(part, "-") && w.locate(part).err == nil {
			return true
		}
		if dir, ok := w.dir(); ok && !filepath.IsAbs(part) && w.locate(filepath.Join(dir, part)).err == nil {
			return true // from the folder, without a slash
		}
	}
	return arg == Unknown
}

func worse(a, b class) class {
	rank := func(c class) int {
		switch c {
		case reader:
			return 0
		case writer:
			return 1
		case wrapper:
			return 3
		case runner, interpreter:
			return 4
		}
		return 2
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// baseName is the name that the tables know: without the folder, and without a
// version or an ending of Windows.
func baseName(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	if i := len(name) - 4; i > 0 && strings.EqualFold(name[i:], ".exe") {
		name = strings.ToLower(name[:i])
	}
	return name
}

func classOf(name string) class {
	if c, ok := classes[name]; ok {
		return c
	}
	// python3.11, perl5.36, mawk-1.3, vim.basic, nc.openbsd
	if i := strings.IndexAny(name, "0123456789.-_"); i > 0 {
		if c := classes[name[:i]]; c == interpreter || c == runner || c == wrapper {
			return c
		}
	}
	return other
}

// interpret handles shells and languages: what they run is in their arguments
// and files, and is theirs to say.
func (w *walker) interpret(name string, argv []string) {
	if len(argv) == 1 {
		w.doubt("interpreter", Show(name)+" runs code that it reads from its input")
		return
	}
	file := argv[1]
	if strings.HasPrefix(file, "-") || file == Unknown || awk(name) {
		w.doubt("interpreter", Show(name)+" runs code that is given in its arguments or loaded by them")
		return
	}
	if !filepath.IsAbs(file) {
		dir, ok := w.dir()
		if !ok {
			w.doubt("interpreter", Show(name)+" runs a file in a folder that is decided only when it runs")
			return
		}
		file = filepath.Join(dir, file)
	}
	w.script(name, file)
}

func awk(name string) bool {
	return strings.HasSuffix(name, "awk") || name == "sed" || name == "jshell"
}

func (w *walker) script(name, path string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		w.doubt("interpreter", Show(name)+" runs "+Show(path)+", which cannot be found now")
		return
	}
	sum, _, err := w.r.hash(w.ctx, w.seen, real)
	if err != nil {
		w.doubt("interpreter", Show(name)+" runs "+Show(path)+", which cannot be read now")
		return
	}
	w.p.Scripts = append(w.p.Scripts, File{real, sum, path})
	w.doubt("interpreter", Show(name)+" runs the code in "+Show(real)+" and whatever that loads")
}
