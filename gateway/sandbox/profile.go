package sandbox

import (
	"path/filepath"
	"strings"
)

// profile is the text that sandbox-exec of macOS understands. Later lines win.
func profile(r Rules) string {
	var b strings.Builder
	line := func(s string) { b.WriteString(s + "\n") }
	line("(version 1)")
	line("(allow default)")
	line("(deny file-write*)")
	line(`(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))`)
	line(`(deny file-read-data (subpath "/Users") (subpath "/Volumes") (subpath "/private/var/root"))`)
	for _, p := range realAll(r.Read) {
		line("(allow file-read* " + subpath(p) + ")")
	}
	for _, p := range r.writes() {
		line("(allow file-read* file-write* " + subpath(p) + ")")
	}
	for _, p := range r.writes() {
		for _, k := range r.kept(p) { // neither it nor what it lies in is moved away
			for ; within(k, p); k = filepath.Dir(k) {
				line("(deny file-write-unlink " + literal(k) + ")")
			}
		}
	}
	for _, p := range realAll(r.Hide) {
		// A workspace inside of a hidden folder stays usable.
		var but []string
		for _, w := range realAll(r.Write) {
			if within(w, p) {
				but = append(but, "(require-not "+subpath(w)+")")
			}
		}
		what := subpath(p)
		if len(but) > 0 {
			what = "(require-all " + what + " " + strings.Join(but, " ") + ")"
		}
		line("(deny file-read* file-write* " + what + ")")
	}
	line("(deny signal (target others))")
	line(`(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc") (global-name "com.apple.secd"))`)
	line("(deny network-outbound (subpath \"/\"))") // sockets with a path
	if !r.Network {
		line("(deny network*)")
	}
	return b.String()
}

func literal(p string) string { return "(literal" + strings.TrimPrefix(subpath(p), "(subpath") }

func subpath(p string) string {
	return `(subpath "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(filepath.ToSlash(p)) + `")`
}
