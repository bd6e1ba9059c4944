// Package sourcemap says where in a person's own text something stands that was
// found in what was made of it. It reads the mappings of a source map (version
// 3) and nothing else of one.
package sourcemap

import "strings"

// Map leads from a program to the text that it was made of. It is small and
// goes with a program that is put away.
type Map struct {
	Mappings string `json:"mappings"`
	Above    int    `json:"above,omitempty"` // lines that were put above the text before it was changed
}

// Source gives the line and column of the text for those of the program; all
// count from 1. Where the program has something that the text has not, it gives
// the nearest place before it. Zeroes mean that there is none.
func (m *Map) Source(line, column int) (int, int) {
	if m == nil {
		return line, column
	}
	var at struct{ column, file, line, sourceColumn, name int }
	fromLine, fromColumn := 0, 0
	for i, row := range strings.Split(m.Mappings, ";") {
		if i+1 > line {
			break
		}
		at.column = 0
		for n, segment := range strings.Split(row, ",") {
			fields := [5]*int{&at.column, &at.file, &at.line, &at.sourceColumn, &at.name}
			count := 0
			for rest := segment; rest != "" && count < len(fields); count++ {
				delta, n := vlq(rest)
				if n == 0 {
					return 0, 0 // no mappings at all
				}
				*fields[count] += delta
				rest = rest[n:]
			}
			if count < 4 {
				continue
			}
			if i+1 == line && at.column >= column && n > 0 {
				break
			}
			fromLine, fromColumn = at.line+1-m.Above, at.sourceColumn+1
		}
	}
	if fromLine < 1 {
		return 0, 0
	}
	return fromLine, fromColumn
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// vlq reads a number and says how many characters it took.
func vlq(s string) (value, n int) {
	shift := 0
	for n < len(s) && shift < 31 {
		d := strings.IndexByte(digits, s[n])
		if d < 0 {
			return 0, 0
		}
		n++
		value |= d & 31 << shift
		shift += 5
		if d&32 == 0 {
			if value&1 == 1 {
				return -(value >> 1), n
			}
			return value >> 1, n
		}
	}
	return 0, 0
}
