package source

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Limits of what is read of JSON.
const (
	maxStream = 4 << 30 // bytes in all, unpacked
	maxNested = 500
)

// ErrNotJSON means that a file does not hold what it should.
var ErrNotJSON = errors.New("it is not the JSON that it should be")

// Element is one of a list in JSON, or too long to be looked at.
type Element struct {
	Data    []byte // valid until the next one
	TooLong bool
}

// Elements reads a list of JSON, one element after the other, however long it is.
// An element of more than most bytes is passed over.
func Elements(r io.Reader, most int) iter.Seq2[Element, error] {
	return func(yield func(Element, error) bool) {
		s := &scanner{r: bufio.NewReaderSize(io.LimitReader(r, maxStream), 1<<16), most: most}
		c, err := s.first()
		if err != nil || c != '[' {
			yield(Element{}, fmt.Errorf("%w: it does not begin with a list", ErrNotJSON))
			return
		}
		for {
			c, err := s.first()
			if err == nil && c == ',' {
				continue
			}
			if err == nil && c == ']' {
				return
			}
			var e Element
			if err == nil {
				e, err = s.value(c)
			}
			if err != nil {
				yield(Element{}, fmt.Errorf("%w: it ends too early: %w", ErrNotJSON, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

type scanner struct {
	r    *bufio.Reader
	most int
	buf  []byte
	long bool
}

// first is the next byte that is no space.
func (s *scanner) first() (byte, error) {
	for {
		c, err := s.r.ReadByte()
		if err != nil || c != ' ' && c != '\n' && c != '\r' && c != '\t' && c != 0xef && c != 0xbb && c != 0xbf {
			return c, err
		}
	}
}

func (s *scanner) put(c byte) {
	if len(s.buf) < s.most {
		s.buf = append(s.buf, c)
	} else {
		s.long = true
	}
}

// value reads to the end of the value that begins with c. It looks at brackets and
// quotes only; what it is made of is for a parser.
func (s *scanner) value(c byte) (Element, error) {
	s.buf, s.long = s.buf[:0], false
	depth, quoted, escaped := 0, false, false
	for {
		s.put(c)
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxNested {
				return Element{}, fmt.Errorf("it is nested more than %d deep", maxNested)
			}
		case c == '}' || c == ']':
			depth--
		}
		if depth <= 0 && !quoted && (c == '}' || c == ']' || c == '"') {
			return s.element(), nil
		}
		if depth == 0 && !quoted { // a number or word: it ends before a comma or bracket
			next, err := s.r.Peek(1)
			if err != nil || next[0] == ',' || next[0] == ']' {
				return s.element(), err
			}
		}
		var err error
		if c, err = s.r.ReadByte(); err != nil {
			return Element{}, err
		}
	}
}

func (s *scanner) element() Element {
	if s.long {
		return Element{TooLong: true}
	}
	return Element{Data: s.buf}
}

// Lines reads a file line by line. A line of more than most bytes is passed over,
// as an Element that is too long; empty lines are not told.
func Lines(r io.Reader, most int) iter.Seq2[Element, error] {
	return func(yield func(Element, error) bool) {
		b := bufio.NewReaderSize(io.LimitReader(r, maxStream), 1<<16)
		var line []byte
		long := false
		for {
			part, err := b.ReadSlice('\n')
			if long = long || len(line)+len(part) > most; !long {
				line = append(line, part...)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Element{}, err)
				return
			}
			text := trim(line)
			if (long || len(text) > 0) && !yield(Element{text, long}, nil) || err != nil {
				return
			}
			line, long = line[:0], false
		}
	}
}

func trim(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r' || b[len(b)-1] == ' ') {
		b = b[:len(b)-1]
	}
	return b
}
