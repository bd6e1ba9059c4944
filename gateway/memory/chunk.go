package memory

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"unicode/utf8"
)

const (
	// pieceBytes is the most of a line that is looked at as one; longer ones
	// come in pieces.
	pieceBytes = 1600
	// maxChunkBytes bounds a chunk whatever its tokens are.
	maxChunkBytes = 16 << 10
	hashBytes     = 16
)

// errBinary: the file is no text.
var errBinary = errors.New("this is not a text file")

// chunk is a part of a file that is found as a whole.
type chunk struct {
	from, to int   // lines, the first is 1
	off      int64 // in the file
	text     []byte
}

func (c chunk) hash() (h [hashBytes]byte) {
	sum := sha256.Sum256(c.text)
	copy(h[:], sum[:])
	return h
}

// piece is a line, or a part of a long one, with its line end.
type piece struct {
	line   int
	off    int64
	text   []byte
	tokens int
}

// chunker cuts a text of any size; it holds no more than one chunk of it.
type chunker struct {
	r               *bufio.Reader
	tokens, overlap int
	line            int
	off             int64
	held            []piece
	sum, bytes      int
	fresh           bool // held has more than the overlap
}

func newChunker(r io.Reader, tokens, overlap int) *chunker {
	return &chunker{r: bufio.NewReaderSize(r, pieceBytes), tokens: tokens, overlap: min(overlap, tokens/2), line: 1}
}

// next returns the next chunk, or io.EOF.
func (c *chunker) next() (chunk, error) {
	for {
		p, err := c.piece()
		if errors.Is(err, io.EOF) {
			if !c.fresh {
				return chunk{}, io.EOF
			}
			out := c.chunk()
			c.held, c.fresh = nil, false
			return out, nil
		}
		if err != nil {
			return chunk{}, err
		}
		if !c.fresh && len(bytes.TrimSpace(p.text)) == 0 {
			c.held, c.sum, c.bytes = nil, 0, 0 // nothing begins with empty lines
			continue
		}
		heading := p.text[0] == '#'
		if !c.fresh || c.sum+p.tokens <= c.tokens && c.bytes+len(p.text) <= maxChunkBytes && (!heading || c.sum < c.tokens/4) {
			c.hold(p)
			continue
		}
		out := c.chunk()
		c.keepOverlap(heading)
		c.hold(p)
		return out, nil
	}
}

func (c *chunker) hold(p piece) {
	c.held = append(c.held, p)
	c.sum += p.tokens
	c.bytes += len(p.text)
	c.fresh = c.fresh || len(bytes.TrimSpace(p.text)) > 0
}

// keepOverlap begins the next chunk with the end of the last one, unless a new
// section begins.
func (c *chunker) keepOverlap(heading bool) {
	n, sum := len(c.held), 0
	for !heading && n > 1 && sum+c.held[n-1].tokens <= c.overlap {
		n--
		sum += c.held[n].tokens
	}
	if heading {
		n = len(c.held)
	}
	c.held = append([]piece(nil), c.held[n:]...)
	c.sum, c.bytes, c.fresh = sum, 0, false
	for _, p := range c.held {
		c.bytes += len(p.text)
	}
}

func (c *chunker) chunk() chunk {
	out := chunk{from: c.held[0].line, to: c.held[len(c.held)-1].line, off: c.held[0].off, text: make([]byte, 0, c.bytes)}
	for _, p := range c.held {
		out.text = append(out.text, p.text...)
	}
	return out
}

func (c *chunker) piece() (piece, error) {
	raw, err := c.r.Peek(pieceBytes)
	if len(raw) == 0 {
		return piece{}, err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return piece{}, err
	}
	if i := bytes.IndexByte(raw, '\n'); i >= 0 {
		raw = raw[:i+1]
	} else if n := wholeRunes(raw); n > 0 && err == nil { // a part of a line: not through a letter
		raw = raw[:n]
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return piece{}, errBinary
	}
	p := piece{line: c.line, off: c.off, text: bytes.Clone(raw), tokens: tokensOf(raw)}
	n := len(raw)
	if _, err := c.r.Discard(n); err != nil {
		return piece{}, err
	}
	c.off += int64(n)
	if p.text[len(p.text)-1] == '\n' {
		c.line++
	}
	return p, nil
}

// wholeRunes is how much of b does not end within a rune.
func wholeRunes(b []byte) int {
	for n := len(b); n > 0 && n > len(b)-utf8.UTFMax; n-- {
		if utf8.RuneStart(b[n-1]) {
			if utf8.FullRune(b[n-1:]) {
				return len(b)
			}
			return n - 1
		}
	}
	return len(b)
}

// tokensOf estimates what a text costs a model: a token is about four letters,
// or one sign of a script without spaces.
func tokensOf(b []byte) int {
	quarters := 0
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			quarters++
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r >= 0x2e80 {
			quarters += 4
		} else {
			quarters += 2
		}
		i += n
	}
	return (quarters + 3) / 4
}
