package chunk

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// SplitMode says how a whole text is cut into messages.
type SplitMode string

// The modes of chunkMode.
const (
	Length     SplitMode = "length"  // as few as fit
	ByNewlines SplitMode = "newline" // one a paragraph
)

// Limits of the messages of a channel.
type Limits struct {
	Chars int // in Units, 0: any
	Unit  channel.Unit
	Lines int // soft, 0: any
	Mode  SplitMode
}

// LimitsOf are those of a channel's messages.
func LimitsOf(l channel.Limits) Limits {
	return Limits{Chars: l.Text, Unit: l.Unit, Lines: l.Lines}
}

// unlimited is more than any text has.
const unlimited = 1 << 30

// Split cuts a whole text into messages that fit.
func Split(text string, l Limits) []Chunk {
	if text == "" {
		return nil
	}
	limit := l.Chars
	if limit <= 0 {
		limit = unlimited
	}
	c := newCutter(limit, 1, Paragraph, l.Mode == ByNewlines)
	c.unit = l.Unit
	c.half = true
	c.tall = l.Lines
	c.blank = len(text) - len(strings.TrimRight(text, " \t\r\n"))
	c.buf = []byte(text)
	return c.drain(true)
}
