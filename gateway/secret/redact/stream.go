package redact

import "strings"

// holdMost bounds what a stream holds back; longer secrets are found by value
// in the whole text later.
const holdMost = 16 << 10

// Stream hides secrets in a text that comes in pieces, wherever the cuts are. It
// holds back only what may be the beginning of a secret. It is used by one
// goroutine.
type Stream struct {
	r    *Redactor
	held string
}

// Stream starts a text.
func (r *Redactor) Stream() *Stream { return &Stream{r: r} }

// Write takes a piece and returns what can be shown now.
func (s *Stream) Write(piece string) string {
	text := s.held + piece
	cut := s.r.safe(text)
	if len(text)-cut > holdMost {
		cut = len(text)
	}
	s.held = text[cut:]
	return s.r.Text(text[:cut])
}

// Flush ends the text and returns the rest of it.
func (s *Stream) Flush() string {
	out := s.r.Text(s.held)
	s.held = ""
	return out
}

// safe is how much of a text can be shown without what follows it: no secret
// begins in that part and ends behind it.
func (r *Redactor) safe(text string) int {
	cut := len(text)
	for i := max(0, len(text)-holdMost-1); i < len(text); i++ {
		if r.mayBegin(text, i) {
			cut = i
			break
		}
	}
	for _, sp := range r.spans(text) {
		if sp.start < cut && cut < sp.end { // it may go on
			return sp.start
		}
	}
	return cut
}

// mayBegin says whether a secret may begin at i that the text does not end.
func (r *Redactor) mayBegin(text string, i int) bool {
	rest := text[i:]
	if f := r.finder.Load(); f != nil {
		for _, t := range f.first[rest[0]] {
			if len(rest) < len(t) && strings.HasPrefix(t, rest) {
				return true
			}
		}
	}
	if i > 0 && classes[text[i-1]]&wordByte != 0 || classes[rest[0]]&(beginByte|dashByte) == 0 {
		return false
	}
	return openShape(rest)
}

// openShape: the text is the beginning of a shape, or a shape up to its end.
func openShape(rest string) bool {
	if c := rest[0]; c == '-' {
		if len(rest) < len(pemBegin) {
			return strings.HasPrefix(pemBegin, rest)
		}
		return strings.HasPrefix(rest, pemBegin) && openKey(rest)
	} else if c >= '0' && c <= '9' {
		return len(rest) < 128 && !strings.ContainsFunc(rest, func(r rune) bool { return r > 0x7f || classes[byte(r)]&keyByte == 0 && r != ':' })
	}
	for _, sh := range shapesOf(rest[0]) {
		if len(rest) < len(sh.begin) {
			if strings.HasPrefix(sh.begin, rest) {
				return true
			}
			continue
		}
		if tail, ok := strings.CutPrefix(rest, sh.begin); ok && !strings.ContainsFunc(tail, func(r rune) bool {
			return r > 0x7f || classes[byte(r)]&keyByte == 0 && !(sh.dots && r == '.')
		}) {
			return true
		}
	}
	return false
}

// openKey: the last line of a key is not there, or not whole.
func openKey(rest string) bool {
	i := strings.Index(rest, pemEnd)
	return i < 0 || !strings.Contains(rest[i+len(pemEnd):], "-----")
}
