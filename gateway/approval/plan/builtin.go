package plan

import "strings"

// simple is one simple command of a shell: a builtin, or a program.
func (w *walker) simple(argv []string) {
	if !commandName(argv[0]) {
		w.doubt("characters", "starts something whose name has unusual characters: "+Show(argv[0]))
		return
	}
	name := argv[0]
	if harmlessBuiltin(name, argv[1:]) {
		return
	}
	switch name {
	case "cd":
		w.changeDir(argv[1:])
		return
	case "command", "exec":
		w.through(argv)
		return
	}
	if shellWords[name] {
		w.doubt("builtin", "uses the shell's own command "+Show(name)+", which can change what later parts mean")
		w.lost()
		return
	}
	w.program(argv, 0)
}

// through handles "command X" and "exec X", which are X.
func (w *walker) through(argv []string) {
	rest := argv[1:]
	switch {
	case len(rest) == 0:
		w.doubt("builtin", "uses "+argv[0]+" without a command")
	case argv[0] == "command" && (rest[0] == "-v" || rest[0] == "-V"):
		return // says where a program is
	case strings.HasPrefix(rest[0], "-") || strings.HasPrefix(rest[0], "+"):
		w.doubt("builtin", "uses "+argv[0]+" with options")
	case argv[0] == "command":
		w.simple(rest) // a builtin or a program, the same tables decide
	case !commandName(rest[0]):
		w.doubt("characters", "starts something whose name has unusual characters: "+Show(rest[0]))
	default:
		w.program(rest, 0) // exec knows no builtins
	}
}

func (w *walker) changeDir(args []string) {
	if len(args) == 2 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) != 1 || args[0] == "" || args[0][0] == '-' || args[0] == Unknown {
		w.lost()
		w.doubt("folder", "changes to a folder that is decided only when it runs")
		return
	}
	w.cd(args[0])
}

// harmlessBuiltin: every understood shell has this builtin, and with these
// arguments it starts nothing and changes nothing that later parts depend on.
func harmlessBuiltin(name string, args []string) bool {
	switch name {
	case ":", "true", "false", "echo", "pwd":
		return true
	case "printf":
		// -v and %n write to a variable, whose subscript bash evaluates.
		return len(args) > 0 && !strings.HasPrefix(args[0], "-") && !assigns(args[0])
	case "test", "[":
		for _, a := range args {
			// -v and -R look at a variable, whose subscript bash evaluates.
			if strings.HasPrefix(a, "-v") || strings.HasPrefix(a, "-R") || a == Unknown {
				return false
			}
		}
		return true
	case "exit":
		return len(args) == 0 || len(args) == 1 && digits(args[0])
	case "wait":
		return len(args) == 0
	case "umask":
		return len(args) == 0 || len(args) == 1 && digits(args[0])
	}
	return false
}

// assigns: a format of printf that has %n in it.
func assigns(format string) bool {
	for _, conversion := range strings.Split(format, "%")[1:] {
		if strings.HasPrefix(strings.TrimLeft(conversion, "#-+ '0123456789.*hlLjzt$"), "n") {
			return true
		}
	}
	return false
}

func digits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// commandName: what is looked up is what is written, in every shell.
func commandName(s string) bool {
	for i, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '/', c == '.':
		case i > 0 && strings.IndexByte("-+@,:", c) >= 0:
		case s == "[" || s == ":":
		default:
			return false
		}
	}
	return s != "" && len(s) < 1024
}

// shellWords are builtins and reserved words of any shell that might read the
// text. A name in here is never looked up as a program: one shell would run the
// program and another its own command.
var shellWords = set(`. : [ [[ ]] { } ! alias autoload bg bind break builtin caller case cd chdir
	command compgen complete compopt continue coproc declare dirs disown do done echo elif else
	enable esac eval exec exit export false fc fg fi float for foreach function functions getopts
	hash help history if in integer jobs kill let limit local log logout mapfile nameref newgrp
	noglob nocorrect popd print printf pushd pwd read readarray readonly rehash repeat return
	sched select set setopt shift shopt source stop suspend test then time times trap true ttyctl
	type typeset ulimit umask unalias unfunction unhash unlimit unset unsetopt until vared wait
	whence where while zcompile zmodload zstyle ((`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, word := range strings.Fields(words) {
		m[word] = true
	}
	return m
}
