package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The notes of the last days, of one scope, the newest first, within bounds.
func TestRecentNotes(t *testing.T) {
	r := newRig(t)
	r.write("memory/2031-03-01.md", "three days ago")
	r.write("memory/2031-03-03.md", "yesterday")
	r.write("memory/2031-03-04.md", "first of today\n")
	r.write("memory/2031-03-04-2.md", "a line\nthe last line of today")
	r.write("memory/plan.md", "not of a day")
	r.write("memory/old/2031-03-04.md", "filed away")
	r.write("memory/people/anna-1/2031-03-04.md", "Anna's")
	var long strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&long, "line %d of a long day\n", i)
	}
	for _, c := range []struct {
		name string
		d    Days
		with string // of yesterday
		who  string
		want []Note
	}{
		{"two days", Days{2, 1200, 2800}, "yesterday", "", []Note{{"memory/2031-03-04-2.md", "a line\nthe last line of today", false},
			{"memory/2031-03-04.md", "first of today", false}, {"memory/2031-03-03.md", "yesterday", false}}},
		{"one", Days{1, 1200, 2800}, "yesterday", "", []Note{{"memory/2031-03-04-2.md", "a line\nthe last line of today", false},
			{"memory/2031-03-04.md", "first of today", false}}},
		{"a file's end", Days{1, 25, 2800}, "", "", []Note{{"memory/2031-03-04-2.md", "the last line of today", true},
			{"memory/2031-03-04.md", "first of today", false}}},
		{"in all", Days{2, 1200, 29}, "yesterday", "", []Note{{"memory/2031-03-04-2.md", "a line\nthe last line of today", false}}},
		{"none", Days{0, 1200, 2800}, "yesterday", "", nil},
		{"somebody else", Days{2, 1200, 2800}, "yesterday", "people/anna-1", []Note{{"memory/people/anna-1/2031-03-04.md", "Anna's", false}}},
		{"a long one", Days{2, 28, 2800}, long.String(), "", []Note{{"memory/2031-03-04-2.md", "the last line of today", true},
			{"memory/2031-03-04.md", "first of today", false}, {"memory/2031-03-03.md", "line 5999 of a long day", true}}},
	} {
		r.write("memory/2031-03-03.md", c.with)
		got, err := r.x.Recent(t.Context(), Scope{Of: c.who}, r.now, c.d)
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", c.name, err, d)
		}
	}
}
