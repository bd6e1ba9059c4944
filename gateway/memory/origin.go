package memory

import (
	"regexp"
	"strings"
	"time"
)

// Origin says where a note came from.
type Origin struct {
	By      string // what wrote it: "summary", "memory_note", "page"
	Session string // the conversation
	Run     string
	From    string // whose words it was made of, "owner" or channel:id
}

// A note begins with a heading that says in a comment where it came from, and
// ends before the next heading of the first or second level:
//
//	## 15:04 <!-- hearth: by=summary session=agent:main:main from=owner -->
var (
	originLine = regexp.MustCompile(`^## .*<!-- hearth:((?: [a-z]+=[^ ]*)+) -->\s*$`)
	topHeading = regexp.MustCompile(`^##?(?: |\t|$)`)
	forged     = regexp.MustCompile(`(?i)<!--\s*hearth\s*:`)
)

func (o Origin) line(now time.Time) string {
	var b strings.Builder
	b.WriteString("## " + now.Format("15:04") + " <!-- hearth:")
	for _, f := range [][2]string{{"by", o.By}, {"session", o.Session}, {"run", o.Run}, {"from", o.From}} {
		if v := word(f[1]); v != "" {
			b.WriteString(" " + f[0] + "=" + v)
		}
	}
	b.WriteString(" -->")
	return b.String()
}

// word makes a value that cannot end the comment.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '<' || r == '>' || r == '=' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '_'
		}
		return r
	}, strings.ReplaceAll(strings.TrimSpace(legible(s)), "--", "__"))
}

// parseOrigin reads the heading of a note.
func parseOrigin(line string) (o Origin, ok bool) {
	m := originLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
	if m == nil {
		return o, false
	}
	for _, f := range strings.Fields(m[1]) {
		k, v, _ := strings.Cut(f, "=")
		switch k {
		case "by":
			o.By = v
		case "session":
			o.Session = v
		case "run":
			o.Run = v
		case "from":
			o.From = v
		}
	}
	return o, true
}

// matches reports whether a source means the note: a conversation, a run or a
// person, whole.
func (o Origin) matches(source string) bool {
	source = word(source)
	return source != "" && (source == o.Session || source == o.Run || source == o.From)
}

// tame makes a text that stays within its note: its headings go below the
// note's own, and nothing in it claims an origin.
func tame(text string) string {
	text = forged.ReplaceAllString(legible(text), "<!- hearth ")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		if topHeading.MatchString(l) {
			lines[i] = "###" + strings.TrimLeft(l, "#")
		}
	}
	return strings.Join(lines, "\n")
}

// without takes the notes of a source out of a file. Everything else stays as it
// is, byte for byte.
func without(text, source string) (rest string, removed int) {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		if topHeading.MatchString(strings.TrimRight(line, "\r\n")) {
			o, ok := parseOrigin(line)
			if inside = ok && o.matches(source); inside {
				removed++
			}
		}
		if !inside {
			b.WriteString(line)
		}
	}
	return b.String(), removed
}

// known takes lines out of a note that stand in the texts already; a note of
// which nothing new is left is empty.
func known(note string, texts ...string) string {
	have := map[string]bool{}
	for _, t := range texts {
		for line := range strings.Lines(t) {
			have[essence(line)] = true
		}
	}
	var out []string
	some := false
	for line := range strings.Lines(note) {
		e := essence(line)
		if e != "" && have[e] {
			continue
		}
		if e != "" {
			have[e] = true
			some = some || !strings.HasPrefix(strings.TrimSpace(line), "#")
		}
		out = append(out, strings.TrimRight(line, "\r\n"))
	}
	if !some {
		return ""
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// essence is a line without how it is set.
func essence(line string) string {
	var b strings.Builder
	eachTerm(line, func(t []byte) {
		b.Write(t)
		b.WriteByte(' ')
	})
	return b.String()
}
