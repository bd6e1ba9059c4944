package reply

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Payload is one thing to be said.
type Payload struct {
	Text  string
	Media []channel.Media
	// Source is the part of the model's own text that Text stands for, in the
	// pieces in which it was cut: a block also says what a cut had to add, such
	// as the end of a code fence. nil: Text is as the model wrote it.
	Source []string
}

// Empty says whether there is nothing to send.
func (p Payload) Empty() bool { return strings.TrimSpace(p.Text) == "" && len(p.Media) == 0 }

// Turn remembers what was said in one turn, so that its end does not say it
// again. Its zero value is a turn that has said nothing. It is not safe for
// use by several goroutines.
type Turn struct {
	media map[string]bool
	said  []string // the pieces of the model's text, without white space
}

// Read turns a model's text into a payload: directives become media, and a
// bare silent token becomes nothing; media that come with it stay.
func Read(text string, more ...channel.Media) Payload {
	rest, media := Parse(text)
	if len(media) > 0 {
		rest = strings.TrimSpace(rest)
	}
	if Silent(rest) {
		rest = ""
	}
	return Payload{Text: rest, Media: append(media, more...)}
}

// Left is what of a payload is still to be said. Of the media it is those that
// were not sent; of the text, what follows the part that was said in blocks,
// when the text begins with the last of it, and all of it otherwise.
func (t *Turn) Left(p Payload) Payload {
	return Payload{Text: t.unsaid(p.Text), Media: t.unsent(p.Media)}
}

// Block is what of a block is still to be said: a block is new text, but its
// media may have been sent.
func (t *Turn) Block(p Payload) Payload {
	p.Media = t.unsent(p.Media)
	return p
}

// Said takes note of a block that will arrive.
func (t *Turn) Said(p Payload) {
	for _, m := range p.Media {
		if t.media == nil {
			t.media = map[string]bool{}
		}
		t.media[mediaKey(m.URL)] = true
	}
	source := p.Source
	if source == nil {
		source = []string{p.Text}
	}
	for _, s := range source {
		if s = ink(s); s != "" {
			t.said = append(t.said, s)
		}
	}
}

func (t *Turn) unsent(media []channel.Media) (out []channel.Media) {
	seen := map[string]bool{}
	for _, m := range media {
		if key := mediaKey(m.URL); !t.media[key] && !seen[key] {
			seen[key] = true
			out = append(out, m)
		}
	}
	return out
}

// mediaKey makes spellings of one place equal.
func mediaKey(u string) string {
	u = strings.TrimPrefix(strings.TrimSpace(u), "file://")
	return strings.TrimPrefix(u, "./")
}

// unsaid is the text behind the longest beginning that ends what was said: a
// turn may have said other texts before this one. White space does not count,
// for a cut takes it away.
func (t *Turn) unsaid(text string) string {
	if len(t.said) == 0 {
		return text
	}
	whole := ink(text)
	for i := range t.said {
		n, same := 0, true
		for _, piece := range t.said[i:] {
			if same = strings.HasPrefix(whole[n:], piece); !same {
				break
			}
			n += len(piece)
		}
		if same {
			if n == len(whole) {
				return ""
			}
			return strings.TrimLeft(behind(text, n), "\r\n")
		}
	}
	return text
}

// ink is a text without its white space.
func ink(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if !blank(s[i]) {
			out = append(out, s[i])
		}
	}
	return string(out)
}

// behind is what follows the first n bytes of ink.
func behind(text string, n int) string {
	for i := range len(text) {
		if n <= 0 {
			return text[i:]
		}
		if !blank(text[i]) {
			n--
		}
	}
	return ""
}

func blank(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }
