package docs

import (
	"iter"
	"strings"
)

// Default is what holds as long as a setting is not set, as docs/configuration.md
// says it, in Markdown; "" when it says nothing.
func Default(path string) string {
	for row := range rows(Configuration) {
		for name := range strings.SplitSeq(row[0], ",") {
			if strings.Trim(strings.TrimSpace(name), "`") == path {
				return row[1]
			}
		}
	}
	return ""
}

// rows are the first two cells of the tables' rows.
func rows(page string) iter.Seq[[2]string] {
	return func(yield func([2]string) bool) {
		for line := range strings.Lines(page) {
			if !strings.HasPrefix(line, "| `") {
				continue
			}
			cells := strings.SplitN(strings.TrimPrefix(line, "|"), " | ", 3)
			if len(cells) == 3 && !yield([2]string{strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1])}) {
				return
			}
		}
	}
}
