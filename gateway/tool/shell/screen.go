package shell

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/process"
)

const (
	shownBytes    = 24 << 10 // of each end of an output
	progressBytes = 4 << 10
	sniffed       = 8 << 10
)

// words is an output for the model and the page: without what only terminals
// understand, its two ends when it is long, and counts of what is missing.
func words(o process.Output) (text string, cut bool) {
	if binary(o.Head) || binary(o.Tail) {
		return fmt.Sprintf("[%d bytes that are not text]", o.Total), false
	}
	head, tail := clean(o.Head), clean(o.Tail)
	var hidden int
	if o.Dropped == 0 {
		all := head + tail
		if len(all) <= 2*shownBytes {
			return all, false
		}
		head, tail = all[:len(all)-shownBytes], all[len(all)-shownBytes:]
	}
	if over := len(head) - shownBytes; over > 0 {
		head, hidden = strings.ToValidUTF8(head[:shownBytes], ""), over
	}
	if over := len(tail) - shownBytes; over > 0 {
		tail = tail[over:]
		hidden += over
	}
	tail = strings.ToValidUTF8(tail, "")
	note := fmt.Sprintf("\n[… %d bytes in the middle are not shown", o.Dropped+int64(hidden))
	if o.Dropped > 0 {
		note += fmt.Sprintf("; %d of them were not kept", o.Dropped)
	}
	return head + note + " …]\n" + tail, true
}

// binary reports whether bytes are no text: they hold NUL, or much that is not
// UTF-8.
func binary(b []byte) bool {
	b = b[:min(len(b), sniffed)]
	bad := 0
	for i := 0; i < len(b); {
		if b[i] == 0 {
			return true
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 && len(b)-i >= utf8.UTFMax {
			bad++
		}
		i += n
	}
	return bad > 8 && bad*10 > len(b)
}

// clean shows bytes as a terminal would have left them, roughly: a line that
// was written over shows its last state, backspaces take back, and nothing is
// left that a terminal or a page would act on.
func clean(b []byte) string {
	s := strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\r\n", "\n")
	s = strip(s)
	if !strings.ContainsAny(s, "\r\b") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		l = strings.TrimRight(l, "\r")
		if at := strings.LastIndexByte(l, '\r'); at >= 0 {
			l = l[at+1:]
		}
		lines[i] = backspaced(l)
	}
	return strings.Join(lines, "\n")
}

func backspaced(l string) string {
	if !strings.Contains(l, "\b") {
		return l
	}
	var out []rune
	for _, r := range l {
		switch {
		case r != '\b':
			out = append(out, r)
		case len(out) > 0:
			out = out[:len(out)-1]
		}
	}
	return string(out)
}

// strip takes escape sequences out with all that they carry, and the other
// characters that cannot be seen or that turn text around.
func strip(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0x1b:
			n = sequence(s[i:])
		case r == 0x9b:
			n += control(s[i+n:])
		case r == 0x90 || r == 0x98 || r >= 0x9d && r <= 0x9f:
			n += carried(s[i+n:])
		case r == '\n' || r == '\t' || r == '\r' || r == '\b' || !hidden(r):
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// sequence is the length of what begins with ESC.
func sequence(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch c := s[1]; {
	case c == '[':
		return 2 + control(s[2:])
	case strings.IndexByte("]P_^X", c) >= 0:
		return 2 + carried(s[2:])
	case c >= 0x20 && c <= 0x2f: // ESC ( B
		return min(3, len(s))
	case c >= 0x30 && c < 0x7f:
		return 2
	}
	return 1
}

// control is the length of the rest of a CSI: up to its final byte, or up to
// what cannot belong to it.
func control(s string) int {
	for i := range len(s) {
		if c := s[i]; c >= 0x40 && c <= 0x7e {
			return i + 1
		} else if c < 0x20 || c > 0x7e {
			return i
		}
	}
	return len(s)
}

// maxCarried is where an unfinished text is given up, so that one introducer
// cannot swallow all that follows.
const maxCarried = 4096

// carried is the length of the rest of an OSC, DCS and the like: up to BEL or
// ST, or the end of the line.
func carried(s string) int {
	for i, r := range s {
		switch {
		case r == 0x07:
			return i + 1
		case r == 0x9c:
			return i + utf8.RuneLen(r)
		case r == 0x1b:
			if i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
			return i
		case r == '\n' || i > maxCarried:
			return i
		}
	}
	return len(s)
}

func hidden(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f:
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
	case r == 0x2028, r == 0x2029, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f:
	default:
		return false
	}
	return true
}

// lastBytes is the end of a text, for progress and notes.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-n:], "")
}
