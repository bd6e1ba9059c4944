package node

import (
	"fmt"
	"io"
	"strings"
)

// ends are the beginning and the end of what a command printed.
type ends struct {
	head, tail []byte
	dropped    int64
}

// readEnds reads to the end and keeps about keep bytes. told gets each part.
func readEnds(r io.Reader, keep int, told func([]byte)) (e ends) {
	b := make([]byte, 32<<10)
	for {
		n, err := r.Read(b)
		p := b[:n]
		if n > 0 {
			told(p)
		}
		if room := keep/2 - len(e.head); room > 0 {
			e.head = append(e.head, p[:min(room, len(p))]...)
			p = p[min(room, len(p)):]
		}
		e.tail = append(e.tail, p...)
		if over := len(e.tail) - keep/2; over > keep/2 {
			e.trim(over)
		}
		if err != nil {
			if over := len(e.tail) - keep/2; over > 0 {
				e.trim(over)
			}
			return e
		}
	}
}

func (e *ends) trim(n int) {
	e.dropped += int64(n)
	e.tail = e.tail[:copy(e.tail, e.tail[n:])]
}

// String is the text of both, valid whatever was printed.
func (e ends) String() string {
	text := string(e.head)
	if e.dropped > 0 {
		text += fmt.Sprintf("\n[… %d bytes left out …]\n", e.dropped)
	}
	return strings.ToValidUTF8(text+string(e.tail), "\uFFFD")
}
