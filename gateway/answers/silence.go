package answers

import (
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/outbound/reply"
)

// silenceAdvice tells the model where it may stay silent: in groups of networks
// whose settings allow it, never in direct chats.
const silenceAdvice = "When nothing needs an answer from you, reply with exactly " + reply.SilentToken + " and nothing else; then " +
	"nothing is sent."

// SilenceAdvice is what the system prompt says about a route.
func SilenceAdvice(c config.Config, where string) string {
	r, ok := channel.ParseRoute(where)
	if !ok {
		return ""
	}
	p := silencePolicy(SurfacesSection.Of(c)[r.Channel]).Over(silencePolicy(Section.Of(c).Silence))
	if !p.Guided(reply.ConversationOf(r.Chat)) {
		return ""
	}
	return silenceAdvice
}

// silencePolicy leaves out what a surface does not say.
func silencePolicy(s Silence) reply.SilencePolicy {
	p := reply.SilencePolicy{}
	for conv, word := range map[reply.Conversation]string{reply.Group: s.Group, reply.Internal: s.Internal} {
		if word != "" {
			p[conv] = word == "allow"
		}
	}
	return p
}
