// Package sse reads streams of records that come over HTTP line by line:
// server-sent events and newline-delimited JSON. It owns the splitting into
// lines and records and their size limits. It knows no model dialect, parses
// no JSON and does no I/O but reading.
//
// Both readers take LF, CRLF and CR line ends in any mixture, a byte order
// mark at the start, and chunks that are cut anywhere, also inside a UTF-8
// sequence. The result never depends on how the bytes were cut.
package sse

import (
	"bytes"
	"io"
	"iter"
)

// Event is one server-sent event that has data.
type Event struct {
	Name []byte // the event field, empty when there was none; valid until the next event
	Data []byte // data lines joined with '\n'; valid until the next event
	// Open is set on a last event that the stream ended in before the blank
	// line that ends an event: its data may be cut.
	Open bool
}

// Events yields the events of r. It ends silently at io.EOF, or with one
// error: the reader's, or one that is ErrTooLong when a line or an event is
// longer than limit bytes (0 means DefaultMaxLine). Comments and events
// without data are not given out.
func Events(r io.Reader, limit int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		l := newLines(r, limit)
		var p pending
		for {
			line, ended, err := l.next()
			if err != nil {
				if err != io.EOF {
					yield(Event{}, err)
				} else if p.has {
					yield(p.event(true), nil)
				}
				return
			}
			if len(line) > 0 {
				if p.add(line); len(p.data) > l.max {
					yield(Event{}, l.tooLong())
					return
				}
			}
			if len(line) == 0 && ended {
				if p.has && !yield(p.event(false), nil) {
					return
				}
				p.reset()
			}
		}
	}
}

// pending is the event being read.
type pending struct {
	name, data []byte
	has        bool // a data field came
}

func (p *pending) reset() { p.name, p.data, p.has = p.name[:0], p.data[:0], false }

func (p *pending) event(open bool) Event { return Event{Name: p.name, Data: p.data, Open: open} }

// add takes one line: "field: value", "field:value" or "field". Unknown fields
// are skipped, as are comments, whose field name is empty.
func (p *pending) add(line []byte) {
	field, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(field) {
	case "data":
		if p.has {
			p.data = append(p.data, '\n')
		}
		p.has = true
		p.data = append(p.data, value...)
	case "event":
		p.name = append(p.name[:0], value...)
	}
}

// Lines yields the lines of r that are not blank as nameless events, without
// their ends and without space around them, for newline-delimited JSON. Its
// errors are those of Events. A last line without an end is Open.
func Lines(r io.Reader, limit int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		l := newLines(r, limit)
		for {
			line, ended, err := l.next()
			if err != nil {
				if err != io.EOF {
					yield(Event{}, err)
				}
				return
			}
			if line = bytes.TrimSpace(line); len(line) > 0 && !yield(Event{Data: line, Open: !ended}, nil) {
				return
			}
		}
	}
}
