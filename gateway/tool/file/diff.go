package file

import (
	"fmt"
	"strings"
)

const (
	context3 = 3        // lines around a difference
	maxDiff  = 64 << 10 // of a diff's text
	maxSteps = 1000     // differences that are looked for line by line
)

// diff is what changed between two texts.
type diff struct {
	text           string // unified
	first          int    // line in the new text, from 1; 0 = no difference
	added, removed int
}

// edit operations of a line.
const (
	same   byte = ' '
	insert byte = '+'
	remove byte = '-'
)

// makeDiff compares line by line. Texts that differ in very much are shown as
// one replaced by the other.
func makeDiff(name, before, after string) diff {
	if before == after {
		return diff{}
	}
	before, after, base := middle(before, after)
	a, b := splitLines(before), splitLines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	ops := script(a[head:len(a)-tail], b[head:len(b)-tail])
	d := diff{first: base + head + 1}
	for _, op := range ops {
		switch op {
		case insert:
			d.added++
		case remove:
			d.removed++
		}
	}
	d.text = unified(name, a, b, base, head, ops)
	return d
}

// middle leaves away what both texts begin and end with, but for the lines
// around the difference; base is how many lines it left away before it.
func middle(a, b string) (_, _ string, base int) {
	const chunk = 4 << 10
	n, head := min(len(a), len(b)), 0
	for head+chunk <= n && a[head:head+chunk] == b[head:head+chunk] {
		head += chunk
	}
	for head < n && a[head] == b[head] {
		head++
	}
	tail := 0
	for head+tail+chunk <= n && a[len(a)-tail-chunk:len(a)-tail] == b[len(b)-tail-chunk:len(b)-tail] {
		tail += chunk
	}
	for head+tail < n && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for range context3 + 2 {
		head = strings.LastIndexByte(a[:max(head-1, 0)], '\n') + 1
	}
	for range context3 + 2 {
		if i := strings.IndexByte(a[len(a)-tail:], '\n'); i >= 0 {
			tail -= i + 1
		} else {
			tail = 0
		}
	}
	return a[head : len(a)-tail], b[head : len(b)-tail], strings.Count(a[:head], "\n")
}

// splitLines keeps line ends, so that a missing last one is a difference.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// script is the shortest way from a to b (Myers), or all of a out and all of b
// in when that is too long to look for.
func script(a, b []string) []byte {
	n, m := len(a), len(b)
	limit := min(n+m, maxSteps)
	at := make([]int, 2*limit+2) // furthest x by diagonal
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), at[limit-d:limit+d+1]...))
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d || k != d && at[limit+k-1] < at[limit+k+1]:
				x = at[limit+k+1]
			default:
				x = at[limit+k-1] + 1
			}
			y := x - k
			for x < n && y < m && a[x] == b[y] {
				x, y = x+1, y+1
			}
			at[limit+k] = x
			if x >= n && y >= m {
				return walkBack(trace, d, n, m)
			}
		}
	}
	ops := make([]byte, 0, n+m)
	for range n {
		ops = append(ops, remove)
	}
	for range m {
		ops = append(ops, insert)
	}
	return ops
}

// walkBack reads the way off the furthest points of each step.
func walkBack(trace [][]int, d, x, y int) []byte {
	var ops []byte
	for ; d > 0; d-- {
		v := trace[d] // before step d: diagonals -d … d, of which -(d-1) … d-1 are set
		k := x - y
		prev := k - 1
		if k == -d || k != d && v[d+k-1] < v[d+k+1] {
			prev = k + 1
		}
		px := v[d+prev]
		py := px - prev
		op, sx := remove, px+1 // where the step ended and equal lines began
		if prev == k+1 {
			op, sx = insert, px
		}
		for ; x > sx; x-- {
			ops = append(ops, same)
		}
		ops = append(ops, op)
		x, y = px, py
	}
	for ; x > 0; x-- {
		ops = append(ops, same)
	}
	for i, j := 0, len(ops)-1; i < j; i, j = i+1, j-1 {
		ops[i], ops[j] = ops[j], ops[i]
	}
	return ops
}

// unified writes the differences with lines around them. The first head lines
// of both texts are the same, and so is what ops does not reach. base lines
// stand before them.
func unified(name string, a, b []string, base, head int, ops []byte) string {
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
	x, y := head, head
	for i := 0; i < len(ops); {
		if ops[i] == same {
			x, y, i = x+1, y+1, i+1
			continue
		}
		end := hunkEnd(ops, i)
		writeHunk(&out, a, b, base, x, y, ops[i:end])
		for _, op := range ops[i:end] {
			if op != insert {
				x++
			}
			if op != remove {
				y++
			}
		}
		i = end
		if out.Len() > maxDiff {
			return strings.ToValidUTF8(out.String()[:maxDiff], "") + "\n[the rest of the diff is not shown]\n"
		}
	}
	return out.String()
}

// hunkEnd is where the differences that begin at i are far enough from the next.
func hunkEnd(ops []byte, i int) int {
	end := i
	for j := i; j < len(ops); j++ {
		if ops[j] != same {
			end = j + 1
		} else if j-end >= 2*context3 {
			break
		}
	}
	return end
}

func writeHunk(out *strings.Builder, a, b []string, base, x, y int, ops []byte) {
	lead := min(context3, x, y)
	removed, added := 0, 0
	for _, op := range ops {
		if op != insert {
			removed++
		}
		if op != remove {
			added++
		}
	}
	trail := min(context3, len(a)-x-removed)
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(base+x-lead, lead+removed+trail), span(base+y-lead, lead+added+trail))
	for _, l := range a[x-lead : x] {
		writeLine(out, same, l)
	}
	for _, op := range ops {
		if op == insert {
			writeLine(out, op, b[y])
		} else {
			writeLine(out, op, a[x])
		}
		if op != insert {
			x++
		}
		if op != remove {
			y++
		}
	}
	for _, l := range a[x : x+trail] {
		writeLine(out, same, l)
	}
}

func span(from, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, n)
}

func writeLine(out *strings.Builder, op byte, line string) {
	out.WriteByte(op)
	out.WriteString(line)
	if !strings.HasSuffix(line, "\n") {
		out.WriteString("\n\\ No newline at end of file\n")
	}
}
