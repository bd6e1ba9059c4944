package tui

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// cell is one cell of a table, drawn on one line.
type cell struct {
	text  string // painted
	plain string
	right bool
}

// table draws a table in columns, or row by row where columns do not fit.
func (d *drawing) table(n *east.Table, w int, first, rest string) {
	grid := d.grid(n)
	if len(grid) == 0 {
		return
	}
	widths := make([]int, len(grid[0]))
	total := 3 * (len(widths) - 1)
	for _, row := range grid {
		for i, c := range row {
			if i < len(widths) {
				widths[i] = max(widths[i], width(c.text))
			}
		}
	}
	for _, n := range widths {
		total += n
	}
	put := func(s string) {
		d.out = append(d.out, first+strings.TrimRight(s, " "))
		first = rest
	}
	if total > w-width(rest) {
		d.records(grid, w, put, rest)
		return
	}
	t := d.md.theme
	for r, row := range grid {
		var b strings.Builder
		for i := range widths {
			var c cell
			if i < len(row) {
				c = row[i]
			}
			if i > 0 {
				b.WriteString(t.dim.paint(" │ "))
			}
			pad := strings.Repeat(" ", widths[i]-width(c.text))
			if c.right {
				b.WriteString(pad + c.text)
			} else {
				b.WriteString(c.text + pad)
			}
		}
		put(b.String())
		if r == 0 {
			var rule []string
			for _, n := range widths {
				rule = append(rule, strings.Repeat("─", n))
			}
			put(t.dim.paint(strings.Join(rule, "─┼─")))
		}
	}
}

// records draws each row as its columns' names and values, one a line.
func (d *drawing) records(grid [][]cell, w int, put func(string), rest string) {
	head := grid[0]
	for r, row := range grid[1:] {
		if r > 0 {
			put("")
		}
		for i, c := range row {
			name := ""
			if i < len(head) {
				name = head[i].plain
			}
			l := wrap([]span{{name + ": ", d.md.theme.bold}, {c.plain, ""}}, w-width(rest), "", "  ")
			for _, s := range l {
				put(s)
			}
		}
	}
}

func (d *drawing) grid(n *east.Table) (grid [][]cell) {
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		l := d.md.theme.plain
		if _, head := r.(*east.TableHeader); head {
			l = d.md.theme.bold
		}
		var row []cell
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			row = append(row, d.cell(c, l))
		}
		grid = append(grid, row)
	}
	return grid
}

func (d *drawing) cell(n ast.Node, l look) (c cell) {
	const wide = 1 << 20
	spans := d.spans(n, l)
	c.text = strings.Join(wrap(spans, wide, "", ""), " ")
	for _, s := range spans {
		c.plain += s.text
	}
	if tc, ok := n.(*east.TableCell); ok {
		c.right = tc.Alignment == east.AlignRight
	}
	return c
}
