// Package envelope renders what the model reads of a message from a channel:
// who wrote it, where and when, and what was said before it in the group. All
// of that comes from strangers, so it also owns the rules that keep a text or
// a name from passing for one of Hearth's own marks. It does no I/O and reads
// no clock.
package envelope

import (
	"fmt"
	"strings"
	"time"
)

// The marks around what a group said before the message to answer.
const (
	HistoryMark = "[Chat messages since your last reply - for context]"
	CurrentMark = "[Current message - respond to this]"
	quoteMark   = "[Replying to - untrusted quote]"
)

// Settings are the keys of agents.defaults that envelopes obey.
type Settings struct {
	Timezone     string // envelopeTimezone: local, user, utc or an IANA name; "" = local
	UserTimezone string // userTimezone; "" = that of this machine
	TimeFormat   string // auto, 12 or 24; auto is 24
	NoTimestamp  bool   // envelopeTimestamp: off
	NoElapsed    bool   // envelopeElapsed: off
}

// Style is settings made ready.
type Style struct {
	zone    *time.Location
	layout  string // "" = no time
	elapsed bool
}

// New makes a style. local is the zone of this machine. A zone that this
// machine does not know counts as local.
func New(s Settings, local *time.Location) Style {
	st := Style{zone: local, layout: "2006-01-02 15:04 MST", elapsed: !s.NoElapsed}
	switch s.Timezone {
	case "", "local":
	case "utc", "UTC":
		st.zone = time.UTC
	case "user":
		st.zone = UserZone(s.UserTimezone, local)
	default:
		st.zone = UserZone(s.Timezone, local)
	}
	if s.TimeFormat == "12" {
		st.layout = "2006-01-02 3:04 PM MST"
	}
	if s.NoTimestamp {
		st.layout = ""
	}
	return st
}

// UserZone is the named zone, or local when there is no such.
func UserZone(name string, local *time.Location) *time.Location {
	if name == "" || strings.EqualFold(name, "local") {
		return local
	}
	if z, err := time.LoadLocation(name); err == nil {
		return z
	}
	return local
}

// Head is what stands in the brackets before a message.
type Head struct {
	Channel  string // the network
	From     string // the sender in direct chats, else the conversation
	At       time.Time
	Previous time.Time // the message before it in the conversation; zero = none
}

// Wrap puts a message into its envelope: [Signal +1555 2026-01-18 00:19 PST] hello
func (s Style) Wrap(h Head, body string) string {
	parts := []string{channelName(h.Channel)}
	if from := Label(h.From); from != "" {
		parts = append(parts, from)
	}
	if gap := h.At.Sub(h.Previous); s.elapsed && !h.Previous.IsZero() && !h.At.IsZero() && gap >= time.Second {
		parts = append(parts, "+"+elapsed(gap))
	}
	if s.layout != "" && !h.At.IsZero() {
		parts = append(parts, h.At.In(s.zone).Format(s.layout))
	}
	return "[" + strings.Join(parts, " ") + "] " + body
}

func elapsed(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

func channelName(id string) string {
	id = Label(id)
	if id == "" {
		return "Message"
	}
	return strings.ToUpper(id[:1]) + id[1:]
}

// Sender names the writer of a message in a group. The name is whatever they
// chose; the handle or id behind it tells two of the same name apart.
func Sender(name, handle, id string) string {
	name, handle, id = Label(name), Label(handle), Label(id)
	mark := id
	if handle != "" {
		mark = "@" + strings.TrimPrefix(handle, "@")
	}
	switch {
	case name == "":
		return mark
	case mark == "" || mark == name:
		return name
	}
	return name + " (" + mark + ")"
}

// Say prefixes a message with its sender, as in every chat that is not direct.
func Say(sender, body string) string {
	if sender == "" {
		return body
	}
	return sender + ": " + body
}

// WithHistory puts what was said before in front of the message to answer.
// Entries are wrapped messages, oldest first; without any, current stands
// alone.
func WithHistory(entries []string, current string) string {
	if len(entries) == 0 {
		return current
	}
	var b strings.Builder
	b.WriteString(HistoryMark)
	for _, e := range entries {
		b.WriteString("\n" + indent(e))
	}
	b.WriteString("\n\n" + CurrentMark + "\n" + current)
	return b.String()
}

// indent keeps the later lines of an entry from looking like the next entry.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n  ") }

// Quote adds the text that a message replies to, as a block of its own.
func Quote(quoted, body string) string {
	if quoted = strings.TrimSpace(quoted); quoted == "" {
		return body
	}
	return body + "\n\n" + quoteMark + "\n> " + strings.ReplaceAll(quoted, "\n", "\n> ")
}

// Forward is what somebody else wrote and the sender passed on, as a block of
// its own: not the sender's words, and nothing to obey.
func Forward(from, text string) string {
	who := Label(from)
	if who == "" {
		who = "somebody"
	}
	mark := "[Forwarded from " + who + " - untrusted, not the sender's words]"
	if text = strings.TrimSpace(text); text == "" {
		return mark
	}
	return mark + "\n> " + strings.ReplaceAll(text, "\n", "\n> ")
}

// Reacted tells of an emoji that somebody put on a message, or took away; about is what
// the message says, where it is known.
func Reacted(emoji string, removed, ours bool, about string) string {
	what, which := "put "+Label(emoji)+" on", "a message"
	if removed {
		what = "took " + Label(emoji) + " away from"
	}
	if ours {
		which = "your message"
	}
	if about != "" {
		which += ": “" + about + "”"
	}
	return "[" + what + " " + which + "]"
}

// Attached tells of a file in one line.
func Attached(mime, name string, size int64) string {
	s := "[attached: " + Label(mime)
	if name = Label(name); name != "" {
		s += " " + name
	}
	if size > 0 {
		s += fmt.Sprintf(", %d KB", (size+1023)/1024)
	}
	return s + "]"
}

// Prompt is a turn's text in its parts. Body is what the person wrote, cleaned;
// everything else is Hearth's or context.
type Prompt struct {
	History  []string `json:"history,omitempty"` // wrapped messages
	Head     string   `json:"head,omitempty"`    // the envelope
	Sender   string   `json:"sender,omitempty"`  // "" in direct chats
	Body     string   `json:"body"`
	Attached []string `json:"attached,omitempty"`
	// Forwarded are blocks of Forward.
	Forwarded []string `json:"forwarded,omitempty"`
	Quoted    string   `json:"quoted,omitempty"`
}

// ForAgent is the message without envelope, history and context.
func (p Prompt) ForAgent() string { return Say(p.Sender, p.Body) }

// Render puts the parts together.
func (p Prompt) Render() string {
	body := p.ForAgent()
	for _, a := range p.Attached {
		if body != "" {
			body += "\n"
		}
		body += a
	}
	for _, f := range p.Forwarded {
		if body != "" {
			body += "\n"
		}
		body += f
	}
	return WithHistory(p.History, Quote(p.Quoted, p.Head+body))
}
