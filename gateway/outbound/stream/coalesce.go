package stream

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
)

// Coalesce is agents.defaults.blockStreamingCoalesce. Without Idle blocks are
// not merged.
type Coalesce struct {
	Min  int // characters; less is not sent before the end
	Max  int // characters; more is not merged
	Idle time.Duration
}

// DefaultIdle holds when coalescing is on and Idle is not set.
const DefaultIdle = time.Second

func (c Coalesce) clamp(limit int) Coalesce {
	if c.Max <= 0 {
		c.Max = chunk.DefaultMax
		c.Max = max(c.Max, c.Min)
	}
	if limit > 0 {
		c.Max = min(c.Max, limit)
	}
	c.Min = min(c.Min, c.Max)
	return c
}

// coalescer merges blocks until there is a gap, or enough.
type coalescer struct {
	o      Coalesce
	joiner string

	text   string   // with the fence that last is in still open
	source []string // the bodies that it is made of
	last   chunk.Chunk
	runes  int
	at     time.Time // of the last block
}

// merged is text to be sent, and the pieces of the model's text in it.
type merged struct {
	text   string
	source []string
}

// push adds a block and returns what is to be sent now.
func (c *coalescer) push(k chunk.Chunk, now time.Time) (out []merged) {
	if strings.TrimSpace(k.Body) == "" && c.runes == 0 {
		return nil
	}
	if c.o.Idle <= 0 {
		return []merged{{k.Text(), []string{k.Body}}}
	}
	text := c.joined(k)
	if c.runes > 0 && utf8.RuneCountInString(text)+utf8.RuneCountInString(k.Close) > c.o.Max {
		out = append(out, c.flush())
		text = k.Open + k.Body
	}
	c.text, c.last, c.at = text, k, now
	c.source = append(c.source, k.Body)
	c.runes = utf8.RuneCountInString(text) + utf8.RuneCountInString(k.Close)
	if c.runes >= c.o.Max {
		out = append(out, c.flush())
	}
	return out
}

// joined is the merged text with one more block. A block that goes on where
// the last one stopped is put to it as it was written; others are put apart.
func (c *coalescer) joined(k chunk.Chunk) string {
	switch {
	case c.runes == 0:
		return k.Open + k.Body
	case k.Continues:
		return c.text + k.Body
	}
	return chunk.Trim(c.text+c.last.Close) + c.joiner + strings.TrimLeft(k.Open+k.Body, "\r\n")
}

// flush returns what was merged.
func (c *coalescer) flush() merged {
	out := merged{c.text, c.source}
	if c.runes > 0 {
		out.text += c.last.Close
	}
	c.text, c.source, c.last, c.runes = "", nil, chunk.Chunk{}, 0
	return out
}

// due is when the gap is long enough; ok is false while more text is needed.
func (c *coalescer) due() (at time.Time, ok bool) {
	if c.runes == 0 || c.runes < c.o.Min {
		return time.Time{}, false
	}
	return c.at.Add(c.o.Idle), true
}

// HumanDelay is agents.defaults.humanDelay: pauses between block replies.
type HumanDelay struct {
	Mode     DelayMode // "" is off
	Min, Max time.Duration
}

// DelayMode is humanDelay.mode.
type DelayMode string

// The modes of HumanDelay.
const (
	DelayOff     DelayMode = "off"
	DelayNatural DelayMode = "natural" // 800 to 2500 ms
	DelayCustom  DelayMode = "custom"  // Min to Max
)

func (h HumanDelay) next(rnd func() float64) time.Duration {
	lo, hi := h.Min, h.Max
	switch h.Mode {
	case DelayNatural:
		lo, hi = 800*time.Millisecond, 2500*time.Millisecond
	case DelayCustom:
	default:
		return 0
	}
	lo = max(lo, 0)
	return lo + time.Duration(rnd()*float64(max(hi-lo, 0)))
}

// On says whether block replies are sent at all: a channel must ask for them
// itself, or the default is on and the channel does not need to (its own value
// is explicit).
func On(byDefault bool, channel, account *bool, needsExplicit bool) bool {
	switch {
	case account != nil:
		return *account
	case channel != nil:
		return *channel
	}
	return byDefault && !needsExplicit
}
