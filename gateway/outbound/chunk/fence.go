package chunk

import (
	"bytes"
	"strings"
)

// maxFenceLine bounds the lines that are taken for code fences, so that little
// text needs to be known ahead. Longer ones are plain text.
const maxFenceLine = 128

// maxIndent of a fence. CommonMark says three, but fences in lists stand deeper.
const maxIndent = 12

// fence is an open code fence; its zero value is none.
type fence struct {
	indent string
	marker byte
	length int
	open   string // the whole opening line without its end
}

func (f fence) is() bool { return f.length > 0 }

// reopen is what a chunk starts with when the fence goes on in it.
func (f fence) reopen() string {
	if !f.is() {
		return ""
	}
	return f.open + "\n"
}

// closing is what ends the fence after body.
func (f fence) closing(body []byte) string {
	if !f.is() {
		return ""
	}
	end := f.indent + strings.Repeat(string(f.marker), f.length)
	if len(body) > 0 && body[len(body)-1] == '\n' {
		return end
	}
	return "\n" + end
}

// closeLen is the most that closing takes.
func (f fence) closeLen() int {
	if !f.is() {
		return 0
	}
	return 1 + len(f.indent) + f.length
}

// marked finds the fence marker that a line starts with. length is less than
// three when there is none.
func marked(line []byte) (indent int, marker byte, length int) {
	for indent < len(line) && indent <= maxIndent && (line[indent] == ' ' || line[indent] == '\t') {
		indent++
	}
	if indent == len(line) || indent > maxIndent {
		return indent, 0, 0
	}
	marker = line[indent]
	if marker != '`' && marker != '~' {
		return indent, 0, 0
	}
	for indent+length < len(line) && line[indent+length] == marker {
		length++
	}
	return indent, marker, length
}

// mayBeFence says whether a line that goes on could still become a fence line.
func mayBeFence(part []byte, limit int) bool {
	if len(part) > limit+1 { // a carriage return may follow
		return false
	}
	indent, marker, length := marked(part)
	switch {
	case indent > maxIndent:
		return false
	case indent == len(part), indent+length == len(part):
		return true
	}
	return marker != 0 && length >= 3
}

// after returns the fence that is open after a whole line. limit is the length
// of the longest line that counts as a fence.
func (f fence) after(line []byte, limit int) (next fence, changed bool) {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) > limit {
		return f, false
	}
	indent, marker, length := marked(line)
	if length < 3 {
		return f, false
	}
	rest := line[indent+length:]
	if f.is() {
		if marker == f.marker && length >= f.length && len(bytes.TrimRight(rest, " \t")) == 0 {
			return fence{}, true
		}
		return f, false
	}
	if marker == '`' && bytes.IndexByte(rest, '`') >= 0 {
		return f, false // a code span
	}
	return fence{indent: string(line[:indent]), marker: marker, length: length, open: string(line)}, true
}
