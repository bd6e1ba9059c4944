package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// DefaultMaxLine bounds one line, and the joined data of one event, when the
// caller names no limit.
const DefaultMaxLine = 10 << 20

// ErrTooLong ends a stream whose line or event is longer than its limit.
var ErrTooLong = errors.New("sse: line or event is longer than the limit")

const (
	startBuffer   = 8 << 10
	maxEmptyReads = 100 // a reader that gives (0, nil) this often is broken
)

var bom = []byte("\xef\xbb\xbf")

// lines splits a reader at LF, CRLF and CR. A line that ends with CR is given
// out at once: whether an LF follows is found out with the next line, so that
// a server that flushes after CR is not delayed.
type lines struct {
	r       io.Reader
	max     int
	buf     []byte
	start   int   // buf[start:end] is unread
	end     int   //
	seenLF  int   // no LF in buf[start:seenLF]; when nextLF is set, it is at seenLF
	nextLF  bool  //
	seenCR  int   // no CR in buf[start:seenCR]
	skipLF  bool  // the last line ended with CR: an LF here belongs to it
	begun   bool  // the BOM question is settled
	err     error // what the reader ended with
	invalid int   // empty reads in a row
}

func newLines(r io.Reader, limit int) *lines {
	if limit <= 0 {
		limit = DefaultMaxLine
	}
	return &lines{r: r, max: limit}
}

// next returns the next line without its end. The bytes are valid until the
// next call. ended is false for a last line that the stream left open. At the
// end of the stream it returns io.EOF or the reader's error.
func (l *lines) next() (line []byte, ended bool, err error) {
	for {
		if l.settleStart() {
			if n, width := l.findEnd(); n >= 0 {
				if n-l.start > l.max {
					return nil, false, l.tooLong()
				}
				line = l.buf[l.start:n]
				l.advance(n + width)
				l.skipLF = width == 1 && l.buf[n] == '\r'
				return line, true, nil
			}
		}
		if l.err != nil {
			return l.rest()
		}
		if l.end-l.start > l.max {
			return nil, false, l.tooLong()
		}
		l.fill()
	}
}

// rest gives out what is left after the reader ended.
func (l *lines) rest() ([]byte, bool, error) {
	if l.start == l.end || l.err != io.EOF {
		return nil, false, l.err
	}
	if l.end-l.start > l.max {
		return nil, false, l.tooLong()
	}
	line := l.buf[l.start:l.end]
	l.advance(l.end)
	return line, false, nil
}

func (l *lines) tooLong() error {
	return fmt.Errorf("%w of %d bytes", ErrTooLong, l.max)
}

// settleStart removes a BOM at the start of the stream and an LF left over
// from a CRLF; it reports false when more bytes are needed to know.
func (l *lines) settleStart() bool {
	if l.skipLF && l.start < l.end {
		if l.buf[l.start] == '\n' {
			l.advance(l.start + 1)
		}
		l.skipLF = false
	}
	if l.begun {
		return true
	}
	have := l.buf[l.start:l.end]
	if len(have) < len(bom) && bytes.HasPrefix(bom, have) && l.err == nil {
		return false
	}
	if bytes.HasPrefix(have, bom) {
		l.advance(l.start + len(bom))
	}
	l.begun = true
	return true
}

// findEnd returns the index of the first line end and its width, or -1. What
// was searched once is not searched again, so that neither a lone CR at every
// second byte nor a long line in small reads costs quadratic time.
func (l *lines) findEnd() (n, width int) {
	if !l.nextLF {
		if i := bytes.IndexByte(l.buf[l.seenLF:l.end], '\n'); i >= 0 {
			l.nextLF, l.seenLF = true, l.seenLF+i
		} else {
			l.seenLF = l.end
		}
	}
	if i := bytes.IndexByte(l.buf[l.seenCR:l.seenLF], '\r'); i >= 0 {
		n = l.seenCR + i
		if l.nextLF && n+1 == l.seenLF {
			return n, 2
		}
		return n, 1
	}
	l.seenCR = l.seenLF
	if l.nextLF {
		return l.seenLF, 1
	}
	return -1, 0
}

func (l *lines) advance(to int) {
	l.start = to
	if to > l.seenLF {
		l.seenLF, l.nextLF = to, false
	}
	l.seenCR = max(l.seenCR, to)
}

// fill reads once, making room first.
func (l *lines) fill() {
	if l.start > 0 && (l.start == l.end || l.end == len(l.buf)) {
		copy(l.buf, l.buf[l.start:l.end])
		l.end -= l.start
		l.seenLF -= l.start
		l.seenCR -= l.start
		l.start = 0
	}
	if l.end == len(l.buf) {
		grown := make([]byte, max(startBuffer, 2*len(l.buf)))
		copy(grown, l.buf[:l.end])
		l.buf = grown
	}
	n, err := l.r.Read(l.buf[l.end:])
	if n < 0 || n > len(l.buf)-l.end {
		n, err = 0, errors.New("sse: the reader returned an impossible count")
	}
	l.end += n
	l.err = err
	if n > 0 || err != nil {
		l.invalid = 0
	} else if l.invalid++; l.invalid >= maxEmptyReads {
		l.err = io.ErrNoProgress
	}
}
