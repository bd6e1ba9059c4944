package typescript

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// edit replaces a range of the text: lead comes first, blanks fill the rest.
// Ends of lines inside it stay.
type edit struct {
	start, end int
	lead       string
}

// blank says whether it only takes away.
func (e edit) blank() bool { return e.lead == "" && e.end > e.start }

// erase makes a range blank. What was to be done inside it is void.
func (p *parser) erase(start, end int) { p.replace(start, end, "") }

// eraseStatement makes a whole statement blank but for a semicolon, so that
// what stands before it stays ended.
func (p *parser) eraseStatement(start int) { p.replace(start, p.last, ";") }

func (p *parser) replace(start, end int, lead string) {
	if p.failed() {
		return
	}
	for n := len(p.edits) - 1; n >= 0 && p.edits[n].start >= start && p.edits[n].end > start; n-- {
		p.edits = p.edits[:n]
	}
	if n := len(p.edits) - 1; n >= 0 && lead == "" && p.edits[n].blank() && p.edits[n].end == start {
		p.edits[n].end = end
		return
	}
	p.add(edit{start, end, lead})
}

// maxEdits is far beyond what an honest program of MaxSource needs.
const maxEdits = 1 << 20

func (p *parser) add(e edit) {
	if len(p.edits) >= maxEdits {
		p.fail(e.start, "the program has more than %d types", maxEdits)
		return
	}
	p.edits = append(p.edits, e)
}

// insert writes s before the character at at.
func (p *parser) insert(at int, s string) {
	if !p.failed() {
		p.add(edit{at, at, s})
	}
}

// render writes the program with its edits.
func (p *parser) render() string {
	slices.SortStableFunc(p.edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	b.Grow(len(p.src) + 64)
	at := 0
	for _, e := range p.edits {
		if e.start < at { // inside what is gone
			if e.end <= at {
				continue
			}
			e.start = at
		}
		b.WriteString(p.src[at:e.start])
		e.write(&b, p.src[e.start:e.end])
		at = e.end
	}
	b.WriteString(p.src[at:])
	return b.String()
}

func (e edit) write(b *strings.Builder, old string) {
	b.WriteString(e.lead)
	skip := utf8.RuneCountInString(e.lead)
	for _, r := range old {
		switch {
		case lineEnd(r):
			b.WriteRune(r)
		case skip > 0:
			skip--
		default:
			b.WriteByte(' ')
		}
	}
}
