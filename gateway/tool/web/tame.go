package web

import (
	"strconv"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxSpan is how many columns or rows one cell may cover: a converter fills
	// all of them.
	maxSpan = 50
	// maxCells is how large a table may be when all its rows are as long as the
	// longest; beyond that it is read as lines.
	maxCells = 50_000
	// maxIndent is how deep quotes and lists may nest: each line of the text
	// repeats the marks of all that it is in.
	maxIndent = 16
)

// tame takes out of a page what makes its text much larger than the page is. A
// process of its own still bounds what this does not think of.
func tame(root *html.Node) {
	depth := map[*html.Node]int{root: 0} // of elements that indent
	for n := root.FirstChild; n != nil; n = following(n, root, false) {
		if n.Type != html.ElementNode {
			continue
		}
		d := depth[n.Parent]
		switch n.DataAtom {
		case atom.Blockquote, atom.Ul, atom.Ol:
			if d++; d > maxIndent {
				plain(n)
			}
		case atom.Li:
			if d > maxIndent {
				plain(n)
			}
		case atom.Td, atom.Th:
			narrow(n)
		case atom.Table:
			if cells(n) > maxCells {
				unfold(n)
			}
		}
		depth[n] = d
	}
}

// plain makes an element one that only holds others.
func plain(n *html.Node) { n.DataAtom, n.Data = atom.Div, "div" }

func narrow(cell *html.Node) {
	for i, a := range cell.Attr {
		if a.Key != "colspan" && a.Key != "rowspan" {
			continue
		}
		if v, err := strconv.Atoi(a.Val); err != nil || v > maxSpan {
			cell.Attr[i].Val = strconv.Itoa(maxSpan)
			if err != nil {
				cell.Attr[i].Val = "1"
			}
		}
	}
}

// cells is how many a table has when its rows are filled up.
func cells(table *html.Node) int {
	rows, longest, now := 0, 0, 0
	for n := table.FirstChild; n != nil; n = following(n, table, false) {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Tr:
			rows, now = rows+1, 0
		case atom.Td, atom.Th:
			narrow(n)
			now += max(1, span(n, "colspan"))
			rows += max(0, span(n, "rowspan")-1)
			longest = max(longest, now)
		}
	}
	return rows * longest
}

func span(n *html.Node, key string) int {
	for _, a := range n.Attr {
		if a.Key == key {
			v, _ := strconv.Atoi(a.Val)
			return v
		}
	}
	return 1
}

// unfold makes a table lines, one a row.
func unfold(table *html.Node) {
	for n := table; n != nil; n = following(n, table, false) {
		switch n.DataAtom {
		case atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Caption, atom.Colgroup:
			plain(n)
		case atom.Tr:
			n.DataAtom, n.Data = atom.P, "p"
		case atom.Td, atom.Th:
			n.DataAtom, n.Data = atom.Span, "span"
			n.InsertBefore(&html.Node{Type: html.TextNode, Data: " "}, n.FirstChild)
		}
	}
}
