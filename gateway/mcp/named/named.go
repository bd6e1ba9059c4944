// Package named tells which files and folders a command line names, and what
// belongs to them. It decides nothing and changes nothing.
package named

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Paths are the files and folders that a command line names, with what belongs
// to them: whoever sets up `node /srv/notes/server.mjs ~/Documents`
// wants that program to read its code and these documents. It is for reading
// only. A folder as wide as the home is not taken from there: it has to be
// named in sandbox.read.
func Paths(home, dir, command string, args []string) []string {
	var out []string
	if filepath.IsAbs(command) {
		out = append(out, around(home, command)...)
	}
	for _, arg := range words(args) {
		path := arg
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			path = value // --dir=/path
		}
		switch {
		case strings.HasPrefix(path, "~/"):
			path = filepath.Join(home, path[2:])
		case !filepath.IsAbs(path) && dir != "" && path != "" && !strings.HasPrefix(path, "-"):
			path = filepath.Join(dir, path)
		}
		if filepath.IsAbs(path) {
			out = append(out, around(home, filepath.Clean(path))...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// words are the arguments, and the words of those that are lines for a shell.
func words(args []string) (out []string) {
	for _, arg := range args {
		out = append(out, arg)
		if strings.ContainsAny(arg, " \n\t") {
			out = append(out, strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune(" \t\n'\";&|()<>", r) })...)
		}
	}
	return out
}

// around is what belongs to one file or folder: for code the project or the
// packages that it is a part of. Links are followed, so that a program in
// node_modules/.bin finds itself.
func around(home, path string) []string {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	if info.IsDir() {
		if wide(home, real) {
			return nil
		}
		return []string{real}
	}
	out := belongs(home, real)
	if real != path {
		out = append(out, belongs(home, path)...)
	}
	return out
}

// belongs is for a file.
func belongs(home, path string) []string {
	dir := filepath.Dir(path)
	if i := strings.Index(path, "/node_modules/"); i > 0 {
		return []string{path[:i+len("/node_modules")]}
	}
	for up := dir; !wide(home, up); up = filepath.Dir(up) {
		for _, mark := range []string{"package.json", "pyproject.toml", "pyvenv.cfg", "deno.json", "Cargo.toml", "go.mod"} {
			if _, err := os.Stat(filepath.Join(up, mark)); err == nil {
				return []string{up}
			}
		}
	}
	if !wide(home, dir) {
		return []string{dir}
	}
	out := []string{path} // it lies loose in the home
	for _, beside := range []string{"node_modules", "package.json"} {
		if beside = filepath.Join(dir, beside); exists(beside) {
			out = append(out, beside)
		}
	}
	return out
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// wide reports whether a folder holds everybody's or all of one's things.
func wide(home, dir string) bool {
	dir = filepath.Clean(dir)
	if dir == filepath.Dir(dir) || filepath.Dir(dir) == filepath.Dir(filepath.Dir(dir)) {
		return true // the root, and what lies right below it: /etc, /home
	}
	home = filepath.Clean(home)
	if real, err := filepath.EvalSymlinks(home); err == nil && (real == dir || strings.HasPrefix(real, dir+string(filepath.Separator))) {
		return true
	}
	return dir == home || strings.HasPrefix(home, dir+string(filepath.Separator))
}
