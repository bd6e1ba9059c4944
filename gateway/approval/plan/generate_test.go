package plan

import (
	"math/rand/v2"
	"strings"
)

// generator writes shell text: the grammar of POSIX shells and bash with every
// way of hiding a word, over a vocabulary of programs that do nothing.
type generator struct {
	*rand.Rand
	wild bool // constructs that are never understood as well
}

func (g *generator) pick(words ...string) string { return words[g.IntN(len(words))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// text is one command.
func (g *generator) text() string {
	g.wild = g.chance(35)
	s := g.list(3)
	if g.chance(12) {
		s = g.damage(s)
	}
	return s
}

func (g *generator) list(depth int) string {
	var b strings.Builder
	for n := 1 + g.IntN(3); n > 0; n-- {
		b.WriteString(g.statement(depth))
		if n > 1 {
			b.WriteString(g.pick(" && ", " || ", "; ", " | ", " & ", "\n", "&&", "||", ";", "|", "\n\n", " |\n", " &&\n "))
		} else if g.chance(10) {
			b.WriteString(g.pick(";", " &", "\n"))
		}
	}
	return b.String()
}

func (g *generator) statement(depth int) string {
	if depth == 0 || g.chance(70) {
		return g.command() + g.redirects()
	}
	inner := func() string { return strings.TrimRight(g.list(depth-1), ";& \n") }
	switch g.IntN(4) {
	case 0:
		return "(" + inner() + ")" + g.redirects()
	case 1:
		return "{ " + inner() + "; }" + g.redirects()
	case 2:
		return "! " + g.command()
	}
	if !g.wild {
		return g.command()
	}
	return g.compound(inner)
}

func (g *generator) compound(inner func() string) string {
	switch g.IntN(9) {
	case 0:
		return "if " + inner() + "; then " + inner() + "; else " + inner() + "; fi"
	case 1:
		return "while " + inner() + "; do " + inner() + "; break; done"
	case 2:
		return "for x in a b; do " + inner() + "; done"
	case 3:
		return "case a in a) " + inner() + ";; *) " + inner() + ";; esac"
	case 4:
		return "f() { " + inner() + "; }; f"
	case 5:
		return "ls() { " + inner() + "; }; ls"
	case 6:
		return "until " + inner() + "; do break; done"
	case 7:
		return "[[ -n x ]] && " + inner()
	}
	return g.pick("coproc ", "time ", "function g { ") + inner() + g.pick("", "; }")
}

// command is a simple command.
func (g *generator) command() string {
	words := []string{g.program()}
	switch {
	case g.chance(12):
		words = []string{g.spell("cd"), g.pick("sub", "sub/deep", "..", "missing", "/", "./sub", "-", "", "sub/..", "link")}
	case g.chance(14):
		words = g.builtin()
	case g.chance(25):
		words = append(g.wrapper(), words...)
	}
	for n := g.IntN(4); n > 0; n-- {
		words = append(words, g.word())
	}
	if g.chance(6) {
		words = append([]string{g.pick("LC_ALL=C", "A=b", "PATH=.", "IFS=x", "LANG=en", "ENV=./tool", "TZ=x")}, words...)
	}
	return strings.Join(words, g.pick(" ", " ", " ", "  ", "\t", " \\\n "))
}

func (g *generator) program() string {
	name := g.pick("ls", "ls", "cat", "head", "wc", "sort", "pwned", "pwned", "grep", "cp", "./tool", "sub/tool", "deep/tool", "tool", "find",
		"true", "git", "python3", "uniq", "nothere")
	return g.spell(name)
}

// spell writes a word in one of the ways that mean the same.
func (g *generator) spell(s string) string {
	switch g.IntN(14) {
	case 0:
		return "'" + s + "'"
	case 1:
		return `"` + s + `"`
	case 2:
		return `\` + s
	case 3:
		return s[:1] + "''" + s[1:]
	case 4:
		return s[:1] + `""` + s[1:]
	case 5:
		return s[:len(s)-1] + `\` + s[len(s)-1:]
	case 6:
		return s[:1] + "'" + s[1:] + "'"
	case 7:
		if g.wild {
			return g.pick("$'"+s+"'", `$"`+s+`"`, s[:1]+"\\\n"+s[1:], "{"+s+",x}", s[:1]+"$x"+s[1:], s[:1]+"${x}"+s[1:], "$(echo "+s+")",
				"`echo "+s+"`", s[:1]+"?"+s[2:], "${x:-"+s+"}")
		}
	}
	return s
}

func (g *generator) builtin() []string {
	calm := [][]string{{"echo"}, {"printf", "'%s\\n'"}, {":"}, {"test", "-f"}, {"pwd"}, {"command"}, {"exec"}, {"command", "-v"}, {"wait;"},
		{"umask", "022;"}, {"[", "-e", "sub", "];"}, {"exit", "0;"}}
	if !g.wild {
		return append(calm[g.IntN(len(calm))], g.program())
	}
	loud := [][]string{{"eval"}, {"."}, {"source"}, {"builtin"}, {"trap"}, {"alias", "ls=pwned;"}, {"set", "--"}, {"export"},
		{"hash", "-p", "./tool"}, {"enable", "-n"}, {"type"}, {"command", "-p"}, {"exec", "-a", "x"}, {"readonly"}, {"unset"},
		{"printf", "-v", "x"}, {"local"}, {"declare"}, {"let"}, {"noglob"}, {"-"}, {"kill", "-0"}, {"times"}, {"times;"}, {"alias", "ls=pwned\n"},
		{"set", "-x;"}, {"PATH=.;"}, {"export", "PATH=.;"}}
	return append(loud[g.IntN(len(loud))], g.program())
}

func (g *generator) wrapper() []string {
	list := [][]string{
		{"env"}, {"env", "--"}, {"env", "A=b"}, {"env", "LANG=x"}, {"env", "-i"}, {"env", "-u", "A"}, {"env", "PATH=."}, {"env", "-S"},
		{"nice"}, {"nice", "-n", "1"}, {"nice", "-n1"}, {"nice", "-1"}, {"nice", "--adjustment=1"}, {"nice", "--adj=1"}, {"nice", "--"},
		{"nohup"}, {"nohup", "--"}, {"timeout", "5"}, {"timeout", "-k", "1", "5"}, {"timeout", "-k1", "5"}, {"timeout", "--signal=9", "5"},
		{"timeout", "-v", "--", "5"}, {"timeout", "5", "--"},
		{"stdbuf", "-oL"}, {"stdbuf", "-o", "L"}, {"stdbuf", "--output=L"}, {"stdbuf"}, {"setsid"}, {"setsid", "-w"}, {"setsid", "-fw"},
		{"setsid", "--wait"},
		{"flock", "out1"}, {"flock", "-n", "out1"}, {"flock", "out1", "-c"}, {"flock", "-w", "1", "out1"}, {"flock", "-x", "sub"},
		{"env", "nice"}, {"nice", "env", "nohup"},
		{"env", "env", "env", "env", "env", "env"}, {"xargs"}, {"xargs", "-n1"}, {"xargs", "-I", "{}"}, {"ionice", "-c", "3"},
		{"chrt", "-o", "0"}, {"taskset", "1"}, {"setarch", "-R"},
	}
	return append([]string{}, list[g.IntN(len(list))]...)
}

func (g *generator) word() string {
	calm := []string{"-l", "a", "out1", "-x", "--", "sub", "'a b'", `"a b"`, `a\ b`, "''", `""`, `'$(pwned)'`, `\$x`, `"\$(pwned)"`, "a=b",
		"{}", `\;`, "-exec", "';'", "+", "./tool", "pwned", "x:y", "a,b", "!", "%1", "@", `'"'`, `"'"`, `\\`, `'\'`, `"\\"`, `"a\b"`, "1",
		"--color=auto", "'&'", `"|"`, `\&`, `\|`, "'ü'", "';pwned'", "';\npwned'", `'#'`, `\#`}
	if !g.wild {
		return calm[g.IntN(len(calm))]
	}
	loud := []string{"$(pwned)", "`pwned`", `"$(pwned)"`, "<(pwned)", ">(pwned)", "${x:-$(pwned)}", "$((1+$(pwned)))", "*", "?", "[a-z]*",
		"{a,b}", "{1..3}", "~", "~root", "a~", "$x", `"$x"`, "$@", "$0", "$'a'", `$"a"`, "!!", "#pwned", "a#b", "^a", "a]", "ü", "\u00a0",
		"\u2028", "\u200b", "$IFS", "${IFS}x", "@(a|b)", "!(a)", "$[1]", "=ls", "a=(b)", "~+", "%", "$", "$(", "a\\\nb", "\r", "a\r"}
	return loud[g.IntN(len(loud))]
}

func (g *generator) redirects() string {
	if g.chance(75) {
		return ""
	}
	calm := []string{" >out1", " >>out2", " 2>&1", " </dev/null", " 2>/dev/null", " >out1 2>&1", " <>out2", " >|out1", " 1>&2", " 3>out1",
		" >&-", "<&-", ">out1", " 2>>'out2'", ` >"out1"`}
	if !g.wild {
		return calm[g.IntN(len(calm))]
	}
	loud := []string{" &>out1", " >&out1", " &>>out2", " <<<pwned", " <<E\n$(pwned)\nE\n", " <<'E'\npwned\nE\n", " <<-E\n\t`pwned`\n\tE\n",
		" {fd}>out1", " >$(pwned)", " 12>out1", " >&12", " |& pwned", " >$x", " >*", " >~/x", " </dev/tcp/127.0.0.1/1", " >>{a,b}", " 2>&pwned"}
	return loud[g.IntN(len(loud))]
}

// damage takes bytes away, doubles them, or puts in such as shells care about.
func (g *generator) damage(s string) string {
	const care = "`$()'\"\\\n#&|;<>{}~*!=[] \t^%,:@+-.?0129aEi\r"
	b := []byte(s)
	for n := 1 + g.IntN(3); n > 0 && len(b) > 0; n-- {
		i := g.IntN(len(b))
		switch g.IntN(3) {
		case 0:
			b = append(b[:i], b[i+1:]...)
		case 1:
			b = append(b[:i], append([]byte{care[g.IntN(len(care))]}, b[i:]...)...)
		case 2:
			b[i] = care[g.IntN(len(care))]
		}
	}
	return string(b)
}
