package client

import (
	"fmt"
	"strings"
	"time"

	"github.com/ergochat/irc-go/ircmsg"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/irc"
)

// said takes a message of somebody.
func (c *Client) said(m ircmsg.Message) {
	if len(m.Params) < 2 {
		return
	}
	from, err := m.NUH()
	if err != nil || from.Name == "" || c.same(from.Name, c.conn.CurrentNick()) {
		return
	}
	text, ok := words(from.Name, m.Params[1])
	if !ok {
		return
	}
	in := channel.Inbound{
		Channel: irc.ID, Account: c.account, Chat: channel.Direct, Conversation: c.fold(from.Name), Label: from.Name,
		SenderID: irc.Fold(m.Source), SenderShown: m.Source, SenderName: from.Name, SenderHandle: from.Name, Text: text, At: c.now(),
	}
	// A nick is whoever has it now; an account at the services is somebody.
	if ok, name := m.GetTag("account"); ok && name != "" && name != "*" {
		in.SenderID, in.SenderShown = irc.Fold(name), name
	}
	if ok, at := m.GetTag("time"); ok {
		if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
			in.At = t
		}
	}
	in.SenderIsBot, _ = m.GetTag("bot")
	if target := m.Params[0]; irc.IsChannel(target) {
		in.Chat, in.Conversation, in.Label, in.Room = channel.Group, c.fold(target), target, target
		in.Command, in.Mentioned = addressed(text, c.conn.CurrentNick())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pings++
	in.MessageID = fmt.Sprintf("%d-%d", in.At.UnixMilli(), c.pings)
	if ok, id := m.GetTag("msgid"); ok && id != "" {
		in.MessageID = id
	}
	if len(c.inbox) >= mostWaiting {
		c.status.Problem = fmt.Sprintf("More than %d messages wait to be taken; newer ones are lost until then.", mostWaiting)
		return
	}
	c.inbox = append(c.inbox, in)
	select {
	case c.arrived <- struct{}{}:
	default:
	}
}

// words are what somebody said; ok is false for what programs say to programs.
func words(nick, text string) (said string, ok bool) {
	if strings.HasPrefix(text, "\x01") {
		action, is := strings.CutPrefix(strings.Trim(text, "\x01"), "ACTION ")
		return "* " + nick + " " + unformatted(action), is
	}
	return unformatted(text), true
}

// unformatted takes colours and faces out.
func unformatted(s string) string {
	if !strings.ContainsAny(s, "\x02\x03\x04\x0f\x11\x16\x1d\x1e\x1f") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case 0x02, 0x0f, 0x11, 0x16, 0x1d, 0x1e, 0x1f:
		case 0x03:
			i += digits(s[i+1:], 2)
			if rest := s[i+1:]; len(rest) > 1 && rest[0] == ',' && digits(rest[1:], 2) > 0 {
				i += 1 + digits(rest[1:], 2)
			}
		case 0x04:
			i += digits(s[i+1:], 6)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// digits is how many hexadecimal digits a text begins with, most at most.
func digits(s string, most int) (n int) {
	for n < len(s) && n < most && strings.IndexByte("0123456789abcdefABCDEF", s[n]) >= 0 {
		n++
	}
	return n
}

// addressed finds our nick in a text: at its beginning it calls us, and what follows
// is for us; as a word elsewhere it names us.
func addressed(text, nick string) (command string, mentioned bool) {
	folded, own := irc.Fold(text), irc.Fold(nick)
	if rest, ok := strings.CutPrefix(folded, own); ok {
		if trimmed := strings.TrimLeft(rest, ":, "); rest == "" || len(trimmed) < len(rest) {
			return strings.TrimSpace(text[len(text)-len(trimmed):]), true
		}
	}
	for at := 0; ; {
		i := strings.Index(folded[at:], own)
		if i < 0 {
			return "", false
		}
		begin, end := at+i, at+i+len(own)
		if (begin == 0 || !inNick(folded[begin-1])) && (end == len(folded) || !inNick(folded[end])) {
			return "", true
		}
		at = end
	}
}

func inNick(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b >= 0x80 || strings.IndexByte("-_[]{}\\|^`~", b) >= 0
}

// fold is a name as this server compares names: where it tells "[" from "{", an answer to
// one must not go to the other.
func (c *Client) fold(name string) string {
	if c.ascii.Load() {
		return irc.FoldASCII(name)
	}
	return irc.Fold(name)
}

// supports takes what the server says of itself (005).
func (c *Client) supports(m ircmsg.Message) {
	for _, p := range m.Params {
		if mapping, ok := strings.CutPrefix(p, "CASEMAPPING="); ok {
			c.ascii.Store(!strings.HasPrefix(mapping, "rfc1459"))
		}
	}
}

func (c *Client) same(a, b string) bool { return c.fold(a) == c.fold(b) }
