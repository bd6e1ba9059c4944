package plan

import (
	"fmt"
	"strings"
	"unicode"
)

// Words says in one line what will run and where.
func (p Plan) Words() string {
	what := p.Command
	if p.Shell == "" {
		what = quoted(p.Argv)
	}
	what = strings.ReplaceAll(Show(what), "\n", " ⏎ ")
	return "Run " + what + " in " + oneLine(p.Dir)
}

// Lines is the whole plan for a person, one fact a line, safe to print: nothing
// is left out and nothing can look like something else.
func (p Plan) Lines() []string {
	var out []string
	if p.Shell != "" {
		out = append(out, "Text for "+oneLine(p.Shell)+":")
		for _, line := range strings.Split(Show(p.Command), "\n") {
			out = append(out, "  "+line)
		}
	}
	var starts []string
	for _, pr := range p.Programs {
		line := "Starts: " + quoted(pr.Argv)
		if pr.Path != "" {
			line += "  (" + oneLine(pr.Path) + ")"
		}
		starts = append(starts, line)
	}
	if p.Shell == "" { // what is run comes first
		out, starts = starts, nil
	}
	out = append(out, "Folder: "+oneLine(p.Dir))
	for _, e := range p.Env {
		out = append(out, "Variable: "+oneLine(e.Name+"="+e.Value))
	}
	out = append(out, starts...)
	for _, s := range p.Scripts {
		out = append(out, "Script: "+oneLine(s.Path))
	}
	for _, path := range p.Writes {
		out = append(out, "Writes to: "+oneLine(path))
	}
	return append(out, p.Warnings()...)
}

// Sentence is the doubt as a person is told it.
func (d Doubt) Sentence() string {
	switch d.Code {
	case "missing", "script", "format", "outside", "privileged", "replaceable", "runner", "other-program", "interpreter", "wrapper":
		return d.Words + "." // they begin with who does it
	}
	return "It " + d.Words + "."
}

// Warnings is what a person should know before answering, in whole sentences.
func (p Plan) Warnings() []string {
	var out []string
	for _, d := range p.Doubts {
		out = append(out, d.Sentence())
	}
	switch {
	case p.OnlyWrites:
	case len(p.Writes) == 0:
		out = append(out, "What it changes cannot be undone.")
	default:
		out = append(out, "Undo brings back only the files named here as written to; what else it changes cannot be undone.")
	}
	texts := append([]string{p.Command, p.Dir}, p.Argv...)
	for _, e := range p.Env {
		texts = append(texts, e.Value)
	}
	for _, s := range texts {
		if hidden(s) {
			out = append(out, `It holds characters that cannot be seen or that look like others; they are shown as \u{…}.`)
			break
		}
	}
	return out
}

func oneLine(s string) string {
	if s == Unknown {
		return s
	}
	return strings.ReplaceAll(Show(s), "\n", newline)
}

const newline = `\u{a}`

// Quoted shows arguments as words of a shell, on one line and safe to print.
func Quoted(argv []string) string { return quoted(argv) }

// quoted shows arguments so that it is plain where each begins and ends.
func quoted(argv []string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = oneLine(a)
		if a == "" || a != Unknown && !simple(a) {
			out[i] = "'" + strings.ReplaceAll(out[i], "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// Show makes text safe to read: what cannot be seen, or is seen as something
// else, becomes \u{…}. No two texts are shown alike.
func Show(s string) string {
	var b strings.Builder
	runes := []rune(s)
	for i := 0; i < len(runes); {
		j := i
		for j < len(runes) && runes[j] > 0x7f && unicode.IsLetter(runes[j]) {
			j++
		}
		if j > i {
			for _, r := range runes[i:j] {
				if foreignWord(runes, i, j) {
					escape(&b, r)
				} else {
					b.WriteRune(r)
				}
			}
			i = j
			continue
		}
		r := runes[i]
		switch {
		case r == '\n' || r >= ' ' && r < 0x7f && r != '\\':
			b.WriteRune(r)
		case r == '\\':
			if i+2 < len(runes) && runes[i+1] == 'u' && runes[i+2] == '{' {
				escape(&b, r) // so that a text cannot look like one of our escapes
			} else {
				b.WriteRune(r)
			}
		default:
			escape(&b, r)
		}
		i++
	}
	return b.String()
}

func escape(b *strings.Builder, r rune) { fmt.Fprintf(b, `\u{%x}`, r) }

// foreignWord: letters i to j could be taken for other letters. Scripts whose
// letters look like no others stay readable.
func foreignWord(runes []rune, i, j int) bool {
	for _, r := range runes[i:j] {
		if !ownLook(r) {
			return true
		}
	}
	return false
}

// ownLook: a letter that looks like no other.
func ownLook(r rune) bool {
	switch {
	case r >= 0xc0 && r <= 0x17e: // Latin with marks
		return r != 0x131 && r != 0x138 && r != 0x149
	case r >= 0x4e00 && r <= 0x9fff, r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa, r >= 0xac00 && r <= 0xd7a3:
		return r != 0x4e28 && r != 0x30ce && r != 0x4e00 && r != 0x4e36 && r != 0x4e3f
	}
	return false
}

// hidden: the text holds characters that Show would replace.
func hidden(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return Show(strings.ReplaceAll(s, "\\", "")) != strings.ReplaceAll(s, "\\", "")
		}
	}
	return false
}
