package channel

import (
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of an account's messages, and what its network can do with them.
type Limits struct {
	Text  int  // of one message, in Units; 0 = no limit
	Unit  Unit // how its network counts; "" = Characters
	Lines int  // soft: taller messages are cut; 0 = no limit
	// Caption is how long a text that comes with a file can be, in Units; 0: text
	// and files are messages of their own.
	Caption int
	Dialect Dialect // what becomes of the Markdown of a text; "" = PlainText

	// EditPace is the least time between two edits of one message, 0: any.
	EditPace time.Duration
	// EditWindow is how long after it was sent a message can be edited, 0: always.
	EditWindow time.Duration
	// Edits is how often one message can be edited, 0: any number of times.
	Edits int

	Typing    time.Duration // how long "is typing" is shown; 0: it cannot be
	Files     int64         // the largest file in bytes; 0: files cannot be sent
	Together  int           // how many files can be one message, as large together as one can be; 0: one
	Reactions bool          // people put emoji on messages, and so can we (Reactor)
	Threads   bool          // groups have topics or threads
	Heard     bool          // people's emoji come in (Inbound.Reaction)
	Choices   int           // the most buttons below a message (Chooser); 0: none
	Manner    Manner        // the wishes that it fulfils
}

// Unit is how a network counts the length of a text.
type Unit string

// Units.
const (
	Characters Unit = "runes" // Unicode code points
	UTF16      Unit = "utf16" // UTF-16 code units: an emoji counts twice
	Bytes      Unit = "bytes" // of UTF-8
)

// Len is how long a text is in a unit.
func (u Unit) Len(s string) int {
	switch u {
	case UTF16:
		n := 0
		for _, r := range s {
			n += utf16.RuneLen(r)
		}
		return n
	case Bytes:
		return len(s)
	}
	return utf8.RuneCountInString(s)
}

// Dialect is how a network writes formatted text.
type Dialect string

// Dialects.
const (
	PlainText Dialect = "plain"    // markup is taken out
	Markdown  Dialect = "markdown" // its own kind of it
	HTML      Dialect = "html"     // a few tags
)
