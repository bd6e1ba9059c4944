package reply

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Stream reads a text while it is written: it holds back what could be a
// silent token or a directive and hands on the rest. Its zero value is ready.
type Stream struct {
	head  []byte // as long as all of it could be the silent token
	begun bool
	line  []byte // the current line
	shown int    // of it
	fence string
	named int // directives so far
}

// Feed takes more text and returns what may be shown and sent.
func (s *Stream) Feed(delta string) Payload {
	if s.begun {
		return s.feed(delta)
	}
	s.head = append(s.head, delta...)
	if len(s.head) < 64 && MaybeSilent(string(s.head)) {
		return Payload{}
	}
	s.begun = true
	head := string(s.head)
	s.head = nil
	return s.feed(head)
}

func (s *Stream) feed(delta string) (out Payload) {
	var text strings.Builder
	for part := range strings.Lines(delta) {
		s.line = append(s.line, part...)
		if !strings.HasSuffix(part, "\n") {
			if n := s.showable(); n > s.shown {
				text.Write(s.line[s.shown:n])
				s.shown = n
			}
			continue
		}
		s.end(&text, &out.Media)
	}
	out.Text = text.String()
	return out
}

// showable is how much of the unfinished line is surely text.
func (s *Stream) showable() int {
	if s.shown > 0 || s.fence != "" {
		return len(s.line)
	}
	bare := strings.TrimLeft(string(s.line[:min(len(s.line), 64)]), " \t")
	if strings.HasPrefix(directive, bare) || strings.HasPrefix(bare, directive) {
		return 0
	}
	return len(s.line)
}

// end closes the current line.
func (s *Stream) end(text *strings.Builder, media *[]channel.Media) {
	bare := strings.TrimSpace(string(s.line))
	s.fence = fenceAfter(s.fence, bare)
	m, ok := channel.Media{}, false
	if s.shown == 0 && s.fence == "" && s.named < maxMedia {
		m, ok = mediaLine(bare)
	}
	if ok {
		s.named++
		*media = append(*media, m)
	} else {
		text.Write(s.line[s.shown:])
	}
	s.line, s.shown = s.line[:0], 0
}

// Flush ends the text. A text that was only the silent token is nothing.
func (s *Stream) Flush() Payload {
	var out Payload
	if head := string(s.head); head != "" && !Silent(head) {
		out = s.feed(head)
	}
	var text strings.Builder
	text.WriteString(out.Text)
	if len(s.line) > 0 {
		s.end(&text, &out.Media)
	}
	out.Text = text.String()
	*s = Stream{}
	return out
}
