package reply

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Payload is one thing to be said.
type Payload struct {
	Text  string
	Media []channel.Media
}

// Empty says whether there is nothing to send.
func (p Payload) Empty() bool { return strings.TrimSpace(p.Text) == "" && len(p.Media) == 0 }

// Turn remembers what was said in one turn, so that its end does not say it
// again. Its zero value is a turn that has said nothing. It is not safe for
// use by several goroutines.
type Turn struct {
	media  map[string]bool
	said   []string        // blocks, as they were sent
	all    map[string]bool // the same, for exact repeats
	spoken bool
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

// Block takes note of a block that is sent while the answer is written, and
// strips what the turn has sent before.
func (t *Turn) Block(p Payload) Payload {
	p.Media = t.fresh(p.Media)
	t.note(p)
	return p
}

// Final is what is left to say at the end: the text that was not in blocks and
// the media that were not sent. An exact repeat leaves nothing.
func (t *Turn) Final(p Payload) Payload {
	p.Media = t.fresh(p.Media)
	p.Text = t.unsaid(p.Text)
	t.note(p)
	return p
}

// Spoken says whether anything was said in the turn.
func (t *Turn) Spoken() bool { return t.spoken }

func (t *Turn) fresh(media []channel.Media) (out []channel.Media) {
	for _, m := range media {
		key := mediaKey(m.URL)
		if t.media[key] {
			continue
		}
		if t.media == nil {
			t.media = map[string]bool{}
		}
		t.media[key] = true
		out = append(out, m)
	}
	return out
}

// mediaKey makes spellings of one place equal.
func mediaKey(u string) string {
	u = strings.TrimPrefix(strings.TrimSpace(u), "file://")
	return strings.TrimPrefix(u, "./")
}

func (t *Turn) note(p Payload) {
	if !p.Empty() {
		t.spoken = true
	}
	if text := strings.TrimSpace(p.Text); text != "" {
		if t.all == nil {
			t.all = map[string]bool{}
		}
		t.all[squeeze(text)] = true
		t.said = append(t.said, text)
	}
}

// unsaid returns the text without what the blocks said, when they are how it
// begins; all of it when they are something else.
func (t *Turn) unsaid(text string) string {
	if len(t.said) == 0 {
		return text
	}
	if t.all[squeeze(text)] || squeeze(strings.Join(t.said, " ")) == squeeze(text) {
		return ""
	}
	rest := text
	for _, s := range t.said {
		next, ok := cutSame(rest, s)
		if !ok {
			return text
		}
		rest = next
	}
	return strings.TrimLeft(rest, "\r\n")
}

// squeeze makes texts equal that differ in white space only.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// cutSame removes prefix from s, whatever the white space.
func cutSame(s, prefix string) (rest string, ok bool) {
	rest = s
	for _, word := range strings.Fields(prefix) {
		if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), word); !ok {
			return s, false
		}
	}
	return rest, true
}
