package docs

import (
	"iter"
	"strings"
)

// Default is what holds as long as a setting is not set, as docs/configuration.md
// says it, in Markdown; "" when it says nothing. What the page says of a key of every
// network, as of channels.<network>.enabled, holds where a network's own table does
// not say otherwise.
func Default(path string) string {
	every := path
	if parts := strings.SplitN(path, ".", 3); len(parts) == 3 && parts[0] == "channels" {
		every = "channels.<network>." + parts[2]
	}
	general := ""
	for row := range rows(Configuration) {
		for name := range strings.SplitSeq(row[0], ",") {
			switch strings.Trim(strings.TrimSpace(name), "`") {
			case path:
				return row[1]
			case every:
				general = row[1]
			}
		}
	}
	return general
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
