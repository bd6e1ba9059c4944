package tui

import "strings"

// stream draws a text that grows at its end. What stands before its last block
// is drawn once; only the last block is drawn again when words arrive.
type stream struct {
	md *markdown
	w  int

	src   string
	lines []string // of src[:done]
	done  int      // where the block that still grows begins
	seen  int      // how far src was looked through, always at a line's start
	fence string   // the mark of an open fence
	blank bool     // the line before seen is empty
}

// set takes the text as it stands. A text that does not go on from the last
// one is drawn from its beginning.
func (s *stream) set(src string, w int) {
	if w != s.w || !strings.HasPrefix(src, s.src) {
		*s = stream{md: s.md, w: w}
	}
	s.src = src
	s.settle()
}

// draw is the text's lines.
func (s *stream) draw() []string {
	tail := strings.Trim(s.src[s.done:], "\n")
	if tail == "" {
		return s.lines
	}
	return join(s.lines, s.md.lines(tail, s.w))
}

// settle moves done behind every block that no later word can change: those
// before an empty line that is followed by a line at the margin, outside of
// fences and lists.
func (s *stream) settle() {
	for {
		n := strings.IndexByte(s.src[s.seen:], '\n')
		if n < 0 {
			return
		}
		line := s.src[s.seen : s.seen+n]
		if s.blank && s.fence == "" && margin(line) && s.seen > s.done {
			s.lines = join(s.lines, s.md.lines(s.src[s.done:s.seen], s.w))
			s.done = s.seen
		}
		s.fences(line)
		s.blank = s.fence == "" && strings.TrimSpace(line) == ""
		s.seen += n + 1
	}
}

// margin reports whether a line begins a block of its own: it does not go on
// with a list, an indented code block or a definition.
func margin(line string) bool {
	if line == "" {
		return false
	}
	switch c := line[0]; {
	case strings.IndexByte(" \t-+*>|[:", c) >= 0, c >= '0' && c <= '9':
		return false
	}
	return true
}

// fences notes where code begins and ends.
func (s *stream) fences(line string) {
	t := strings.TrimLeft(line, " ")
	if s.fence == "" {
		for _, mark := range []string{"`", "~"} {
			if n := len(t) - len(strings.TrimLeft(t, mark)); n >= 3 {
				if mark == "`" && strings.Contains(t[n:], "`") {
					continue
				}
				s.fence = t[:n]
			}
		}
		return
	}
	if rest := strings.TrimRight(t, " \t"); len(rest) >= len(s.fence) && strings.Trim(rest, s.fence[:1]) == "" {
		s.fence = ""
	}
}

// join puts an empty line between two drawings.
func join(a, b []string) []string {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	out := make([]string, 0, len(a)+1+len(b))
	return append(append(append(out, a...), ""), b...)
}
