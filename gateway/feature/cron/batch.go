package cron

import (
	"bytes"
	"regexp"
	"strings"
)

// maxLine is how much of a line is looked at.
const maxLine = 64 << 10

const truncated = "[truncated]"

// batch are the lines of a program that count, until they are given on: so much of
// them as fits.
type batch struct {
	match *regexp.Regexp // nil: all lines count
	most  int

	part []byte // of a line that has not ended
	long bool   // more of it came than is kept
	text []byte
	full bool
}

// feed takes what a program printed.
func (b *batch) feed(p []byte) {
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		room := maxLine - len(b.part)
		b.part, b.long = append(b.part, line[:min(len(line), room)]...), b.long || len(line) > room
		if ended {
			b.end()
		}
		p = rest
	}
}

// gap notes that something was printed that nobody kept.
func (b *batch) gap() {
	b.part, b.long = b.part[:0], true
	b.end()
	b.full = b.full || len(b.text) > 0
}

// end ends the line that has begun.
func (b *batch) end() {
	line, long := bytes.TrimSuffix(b.part, []byte{'\r'}), b.long
	b.part, b.long = b.part[:0], false
	if len(line) == 0 || b.full || b.match != nil && (long || !b.match.Match(line)) {
		return
	}
	if len(b.text)+len(line)+1 > b.most {
		line, b.full = line[:max(0, b.most-len(b.text)-1)], true
	}
	b.text = append(append(b.text, line...), '\n')
}

// waits reports whether there is something to give on.
func (b *batch) waits() bool { return len(b.text) > 0 }

// words are what there is.
func (b *batch) words() string {
	s := strings.TrimRight(strings.ToValidUTF8(string(b.text), "\uFFFD"), "\n")
	if b.full {
		s += "\n" + truncated
	}
	return s
}

// given empties it.
func (b *batch) given() { b.text, b.full = b.text[:0], false }
