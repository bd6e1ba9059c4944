// Package chunk cuts Markdown into messages: while it streams (Chunker) and
// when it is complete (Split). It owns where a cut may be and how a code fence
// is closed and opened again around one; it does not know what is sent when,
// or to whom.
//
// What it promises for any text and any way the text arrives in pieces: the
// bodies of the chunks joined are the text, no chunk is longer than the limit,
// no chunk leaves a code fence open, no cut is inside a grapheme cluster unless
// the cluster alone is longer than a chunk, and the result does not depend on
// the pieces. The cost is linear.
package chunk

import (
	"strings"
	"unicode/utf8"
)

// Break names where a person would break a text, the best place first.
type Break string

// The places to start with when looking for a break; each falls back to the
// ones after it, then to whitespace, then to a hard break.
const (
	Paragraph Break = "paragraph"
	Newline   Break = "newline"
	Sentence  Break = "sentence"
)

// The bounds of streamed blocks when nothing is configured.
const (
	DefaultMin = 800
	DefaultMax = 1200
)

// Options of a Chunker. Lengths are characters (runes).
type Options struct {
	Min    int   // nothing shorter is cut off, unless Max forces it
	Max    int   // no chunk is longer
	Prefer Break // "" is Paragraph
}

// Clamp fills in defaults and keeps Max within the limit of a channel's
// messages (0: no limit).
func (o Options) Clamp(limit int) Options {
	if o.Max <= 0 {
		o.Max = DefaultMax
	}
	if o.Min <= 0 {
		o.Min = DefaultMin
	}
	if limit > 0 {
		o.Max = min(o.Max, limit)
	}
	o.Min = min(o.Min, o.Max)
	if o.Prefer == "" {
		o.Prefer = Paragraph
	}
	return o
}

// Joiner is what stands between blocks that are merged again.
func (b Break) Joiner() string {
	switch b {
	case Newline:
		return "\n"
	case Sentence:
		return " "
	}
	return "\n\n"
}

// Chunk is one piece. Body is the text itself; Open and Close are what was
// added so that a code fence that goes on over the cut reads well on its own.
type Chunk struct {
	Open  string
	Body  string
	Close string
	// Continues says that the text of the chunk before goes on here: the two
	// bodies put together are what was written.
	Continues bool
}

// Text is the piece as it is sent.
func (c Chunk) Text() string { return c.Open + c.Body + c.Close }

// Trim takes away the empty lines and the white space that a cut leaves at the
// ends of a chunk, but not the indentation of its first line.
func Trim(s string) string {
	s = strings.TrimRight(s, " \t\r\n")
	for {
		line, rest, ok := strings.Cut(s, "\n")
		if !ok || strings.TrimSpace(line) != "" {
			return s
		}
		s = rest
	}
}

// Chunker cuts one text while it arrives. It is not safe for use by several
// goroutines.
type Chunker struct {
	c cutter
}

// New returns a chunker.
func New(o Options) *Chunker {
	o = o.Clamp(0)
	return &Chunker{c: newCutter(o.Max, o.Min, o.Prefer, true)}
}

// Feed takes more text and returns the chunks that are complete now.
func (k *Chunker) Feed(delta string) []Chunk {
	k.c.buf = append(k.c.buf, delta...)
	return k.c.drain(false)
}

// Flush ends the text and returns what is left of it. The chunker is as new
// afterwards.
func (k *Chunker) Flush() []Chunk {
	out := k.c.drain(true)
	k.c.restart()
	return out
}

// Pending is how many characters wait for a break.
func (k *Chunker) Pending() int { return utf8.RuneCount(k.c.buf) }
