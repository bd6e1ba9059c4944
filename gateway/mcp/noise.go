package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Noise is what a program wrote on its standard output that is no message. The
// protocol forbids it, and common servers do it all the same: a greeting, a
// console.log in a tool. Such lines are skipped.
type Noise struct {
	Lines int
	Last  string // one line, made safe to show
}

// Words say it to people; "" without noise.
func (n Noise) Words() string {
	if n.Lines == 0 {
		return ""
	}
	if n.Lines == 1 {
		return "a line on its standard output was no message and was skipped: " + n.Last
	}
	return fmt.Sprintf("%d lines on its standard output were no messages and were skipped, the last: %s", n.Lines, n.Last)
}

const maxNoise = 200 // bytes of a line that are kept

// noise counts what is skipped; it is safe for concurrent use.
type noise struct {
	mu    sync.Mutex
	n     Noise
	first func(line string) // told once, of the first line
}

func (c *noise) skip(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n.Lines++
	c.n.Last = clean(string(line[:min(len(line), maxNoise)]), maxNoise)
	if c.n.Lines == 1 && c.first != nil {
		c.first(c.n.Last)
	}
}

func (c *noise) seen() Noise {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// quiet is a program's output without the lines that are no messages. A line
// that begins like one is held until its end, but never more than limit bytes:
// what is longer goes on as it is, for the reader to refuse. Others are never held.
type quiet struct {
	io.Closer
	in    *bufio.Reader
	limit int
	noise *noise
	look  func(message []byte)
	over  func() // told of a message that is too long; nil: nobody is

	out  []byte // to be read
	long bool   // in a line that is too long
}

func newQuiet(r io.ReadCloser, limit int, n *noise, look func([]byte)) *quiet {
	return &quiet{Closer: r, in: bufio.NewReaderSize(r, 32<<10), limit: limit, noise: n, look: look}
}

// Read implements io.Reader.
func (q *quiet) Read(p []byte) (int, error) {
	for len(q.out) == 0 {
		if err := q.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, q.out)
	q.out = q.out[n:]
	return n, nil
}

// fill reads the next line, or the next part of one that is too long.
func (q *quiet) fill() error {
	part, err := q.in.ReadSlice('\n')
	if len(part) == 0 && err != nil {
		return err
	}
	ended := !errors.Is(err, bufio.ErrBufferFull)
	if q.long {
		q.out, q.long = append([]byte(nil), part...), !ended
		return nil
	}
	if start := bytes.TrimLeft(part, " \t\r\xef\xbb\xbf"); len(start) == 0 || start[0] != '{' && start[0] != '[' {
		q.noise.skip(part)
		for !ended {
			_, err = q.in.ReadSlice('\n')
			ended = !errors.Is(err, bufio.ErrBufferFull)
		}
		return nil
	}
	line := append([]byte(nil), part...)
	for !ended && len(line) <= q.limit {
		part, err = q.in.ReadSlice('\n')
		line, ended = append(line, part...), !errors.Is(err, bufio.ErrBufferFull)
	}
	if len(line) > q.limit && q.over != nil {
		q.over()
	}
	switch {
	case !ended:
		q.long, q.out = true, line
	case isMessage(line):
		q.out = bytes.TrimLeft(line, " \t\r\xef\xbb\xbf")
		q.look(q.out)
	default:
		q.noise.skip(line)
	}
	return nil
}

// isMessage reports whether a line is one of the protocol, or several of them.
func isMessage(line []byte) bool {
	var one struct {
		Version string `json:"jsonrpc"`
	}
	if json.Unmarshal(line, &one) == nil {
		return one.Version == "2.0"
	}
	var all []struct {
		Version string `json:"jsonrpc"`
	}
	return json.Unmarshal(line, &all) == nil && len(all) > 0 && all[0].Version == "2.0"
}
