// Package reply decides what of a model's text is said to people: which media
// it names, whether it asks for silence, what was said already in the turn,
// and which prefix stands before it. It owns no state beyond a turn and sends
// nothing.
package reply

import (
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// SilentToken, or its lower case, as a whole answer means: say nothing.
const SilentToken = "NO_REPLY"

// Silent says whether an answer is exactly the silent token.
func Silent(text string) bool {
	t := strings.TrimSpace(text)
	return t == SilentToken || t == strings.ToLower(SilentToken)
}

// MaybeSilent says whether an answer that goes on could still turn out to be
// the silent token. As long as it could, nothing of it may be shown.
func MaybeSilent(soFar string) bool {
	t := strings.TrimSpace(soFar)
	return strings.HasPrefix(SilentToken, t) || strings.HasPrefix(strings.ToLower(SilentToken), t)
}

// Conversation is the kind of place an answer goes to.
type Conversation string

// The conversations that silence is configured for.
const (
	Direct   Conversation = "direct"
	Group    Conversation = "group"
	Internal Conversation = "internal"
)

// ConversationOf maps the kinds of chats; rooms are groups.
func ConversationOf(t channel.ChatType) Conversation {
	if t == channel.Direct || t == "" {
		return Direct
	}
	return Group
}

// SilencePolicy says, for conversations other than direct ones, whether a
// model is told that it may be silent. The zero value of a key is allowed; see
// agents.defaults.silentReply and surfaces.<id>.silentReply.
type SilencePolicy map[Conversation]bool

// Guided says whether the prompt tells the model about the token. Direct
// conversations never do.
func (p SilencePolicy) Guided(c Conversation) bool {
	if c == Direct {
		return false
	}
	allowed, set := p[c]
	return allowed || !set
}

// Over returns the policy of a surface on top of the defaults.
func (p SilencePolicy) Over(defaults SilencePolicy) SilencePolicy {
	out := SilencePolicy{}
	for _, m := range []SilencePolicy{defaults, p} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// ErrorShown says whether a failure of the run is told in the conversation.
// Groups are not bothered with errors before any answer; direct chats get the
// short text, or the details when they asked for all.
func ErrorShown(c Conversation, answered bool, short, detail string, verboseFull bool) (text string, ok bool) {
	switch {
	case c != Direct && !answered:
		return "", false
	case verboseFull && detail != "":
		return detail, true
	}
	return short, short != ""
}

// Prefix is the outbound prefix: the account's over the channel's over
// messages.responsePrefix. nil means not set; an empty text ends the cascade.
func Prefix(account, channel, global *string) string {
	for _, p := range []*string{account, channel, global} {
		if p != nil {
			return *p
		}
	}
	return ""
}

// WithPrefix puts the prefix before a text that has none yet.
func WithPrefix(prefix, text string) string {
	switch {
	case prefix == "" || text == "" || strings.HasPrefix(text, prefix):
		return text
	case strings.HasSuffix(prefix, " ") || strings.HasSuffix(prefix, "\n"):
		return prefix + text
	}
	return prefix + " " + text
}
