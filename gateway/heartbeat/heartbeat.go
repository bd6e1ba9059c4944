// Package heartbeat lets an assistant look by itself, now and then, whether
// something needs attention. It owns when that is due, what of HEARTBEAT.md
// makes it worth asking a model at all, and which answers say that nothing is.
// It asks no model, keeps no session and has no clock: package feature/heartbeat
// says what is asked, and package job when it is due.
package heartbeat

import (
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// Token is the answer of a model that found nothing.
	Token = "HEARTBEAT_OK"
	// DefaultAck is how many characters may stand beside the token.
	DefaultAck = 300
	// DefaultPrompt is what is asked.
	DefaultPrompt = "Read HEARTBEAT.md if it exists (it is in your workspace). Follow it strictly. Do not infer or repeat old tasks from " +
		"earlier chats. If nothing needs attention, reply HEARTBEAT_OK."
)

// Hours are the part of a day in which it may look; equal ends mean all of it.
type Hours struct {
	From, To int // minutes of the day; To may lie behind midnight, before From
	Zone     *time.Location
}

// Open reports whether a moment lies within the hours.
func (h Hours) Open(at time.Time) bool {
	if h.From == h.To {
		return true
	}
	if h.Zone != nil {
		at = at.In(h.Zone)
	}
	m := at.Hour()*60 + at.Minute()
	if h.From < h.To {
		return m >= h.From && m < h.To
	}
	return m >= h.From || m < h.To
}

// Says reports whether a HEARTBEAT.md asks for anything: headings, comments and
// empty list items do not.
func Says(text string) bool {
	for {
		before, rest, ok := strings.Cut(text, "<!--")
		if !ok {
			break
		}
		_, after, _ := strings.Cut(rest, "-->")
		text = before + after
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.TrimLeft(line, "-*+ \t")
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "[ ]"), "[x]"))
		if line != "" && strings.Trim(line, "`~") != "" {
			return true
		}
	}
	return false
}

// Tells is what of an answer a person should see; ok is false when it only says
// that nothing needs attention. The token counts at either end of the answer,
// with at most ack characters beside it.
func Tells(answer string, ack int) (text string, ok bool) {
	text = strings.TrimSpace(answer)
	bare, found := text, false
	for _, mark := range []string{"", "**", "`"} {
		if rest, has := strings.CutPrefix(bare, mark+Token+mark); has && !word(rest, true) {
			bare, found = strings.TrimSpace(rest), true
		}
		if rest, has := strings.CutSuffix(bare, mark+Token+mark); has && !word(rest, false) {
			bare, found = strings.TrimSpace(rest), true
		}
	}
	if bare == "" {
		return "", false
	}
	if found && utf8.RuneCountInString(bare) <= ack {
		return "", false
	}
	return bare, true
}

// word reports that the token was only a part of a longer word.
func word(rest string, front bool) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	if !front {
		r, _ = utf8.DecodeLastRuneInString(rest)
	}
	return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}
