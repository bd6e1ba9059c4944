package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// result is what one row of the measurement yielded, and how busy others kept the
// machine before it.
type result struct {
	row     string
	figures []figure
	busy    float64
	at      time.Time
}

// missed counts the figures that are over their budget or could not be measured.
func missed(all []result) (n int) {
	for _, r := range all {
		for _, f := range r.figures {
			if !f.ok(r.busy) {
				n++
			}
		}
	}
	return n
}

// verdict says in a word how a figure stands to its budget.
func (f figure) verdict(busy float64) string {
	switch {
	case f.err != nil:
		return "ERROR"
	case !f.judged():
		return ""
	case f.measured <= f.budget:
		return "yes"
	case f.ok(busy):
		return fmt.Sprintf("busy (×%.1f)", f.slackOf(busy))
	}
	return "MISSED"
}

func writeTable(w io.Writer, r result) error {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(t, "| figure\t| measured\t| budget\t| kept?\t| remark\t|")
	fmt.Fprintln(t, "|---\t|---:\t|---:\t|---\t|---\t|")
	for _, f := range r.figures {
		measured, budget, note := show(f.measured, f.unit), "", f.note
		if f.err != nil {
			measured, note = "-", f.err.Error()
		}
		if f.judged() {
			budget = show(f.budget, f.unit)
		}
		fmt.Fprintf(t, "| %s\t| %s\t| %s\t| %s\t| %s\t|\n", f.name, measured, budget, f.verdict(r.busy), cell(note))
	}
	return t.Flush()
}

// cell is a text that stays in one cell of a table.
func cell(s string) string {
	return strings.NewReplacer("\n", " ", "|", `\|`).Replace(s)
}

const (
	tablesBegin = "<!-- build/bench --write: what follows is written by it -->\n"
	tablesEnd   = "<!-- build/bench --write: end -->"
)

// section is a row as the page shows it.
func (r result) section() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\nOn %s, %d processors, %s.\n\n", r.row, r.at.Format("2 January 2006, 15:04"), runtime.NumCPU(), sayBusy(r.busy))
	err := writeTable(&b, r)
	b.WriteByte('\n')
	return b.String(), err
}

var heading = regexp.MustCompile(`(?m)^### (\S+)$`)

// writePage puts the results into a page, in place of those of the same rows; rows
// that were not measured stay as they are.
func writePage(path string, all []result) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(raw), tablesBegin)
	old, tail, ends := strings.Cut(rest, tablesEnd)
	if !ok || !ends {
		return fmt.Errorf("%s has no place for the tables: a line %q and one %q", path, strings.TrimSpace(tablesBegin), tablesEnd)
	}
	sections := map[string]string{}
	at := heading.FindAllStringSubmatchIndex(old, -1)
	for i, m := range at {
		end := len(old)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		sections[old[m[2]:m[3]]] = old[m[0]:end]
	}
	for _, r := range all {
		if sections[r.row], err = r.section(); err != nil {
			return err
		}
	}
	var b strings.Builder
	b.WriteString(head + tablesBegin + "\n")
	for _, r := range rows() {
		b.WriteString(sections[r.id])
	}
	b.WriteString(tablesEnd + tail)
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
