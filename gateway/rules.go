package gateway

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/envelope"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
)

// The settings of sessions and messages, as the rooms that obey them want them.

func keyRules(c config.Config) policy.Keys {
	return policy.Keys{MainKey: c.Session.MainKey, DMScope: policy.Scope(c.Session.DMScope), IdentityLinks: c.Session.IdentityLinks}
}

func sendPolicy(c config.Config) policy.SendPolicy {
	p := policy.SendPolicy{Default: policy.Action(c.Session.SendPolicy.Default)}
	for _, r := range c.Session.SendPolicy.Rules {
		p.Rules = append(p.Rules, policy.SendRule{Action: policy.Action(r.Action), Match: policy.Match{
			Channel: r.Channel, ChatType: policy.Chat(r.ChatType), KeyPrefix: r.KeyPrefix,
		}})
	}
	return p
}

func resetRules(c config.Config) policy.Resets {
	one := func(r config.SessionReset) policy.Reset {
		return policy.Reset{Mode: policy.Mode(r.Mode), AtHour: r.AtHour, IdleMinutes: r.IdleMinutes}
	}
	out := policy.Resets{IdleMinutes: c.Session.IdleMinutes, ByType: map[policy.Type]policy.Reset{}, ByChannel: map[string]policy.Reset{}}
	if c.Session.Reset != nil {
		r := one(*c.Session.Reset)
		out.Base = &r
	}
	for t, r := range c.Session.ResetByType {
		out.ByType[policy.Type(t)] = one(r)
	}
	for ch, r := range c.Session.ResetByChannel {
		out.ByChannel[ch] = one(r)
	}
	return out
}

// queuePolicy is messages.queue for a route's channel.
func (g *Gateway) queuePolicy(where string) session.QueuePolicy {
	q := g.config.Snapshot().Config.Messages.Queue
	p := session.QueuePolicy{Mode: session.Mode(q.Mode), Debounce: time.Duration(q.DebounceMs) * time.Millisecond, Cap: q.Cap, Drop: session.Drop(q.Drop)}
	surface := channel.Webchat
	if r, ok := channel.ParseRoute(where); ok {
		surface = r.Channel
	}
	if m := q.ByChannel[surface]; m != "" {
		p.Mode = session.Mode(m)
	}
	return p
}

func (g *Gateway) inboundSettings(c config.Config) inbound.Settings {
	d := c.Agents.Defaults
	s := inbound.Settings{
		Agent: g.agents.Answerer, Keys: keyRules(c), HistoryLimit: c.Messages.GroupChat.HistoryLimit,
		Debounce: time.Duration(c.Messages.Inbound.DebounceMs) * time.Millisecond, DebounceByChannel: map[string]time.Duration{},
		Envelope: envelope.Settings{
			Timezone: d.EnvelopeTimezone, UserTimezone: d.UserTimezone, TimeFormat: d.TimeFormat,
			NoTimestamp: d.EnvelopeTimestamp == "off", NoElapsed: d.EnvelopeElapsed == "off",
		},
	}
	for ch, ms := range c.Messages.Inbound.ByChannel {
		s.DebounceByChannel[ch] = time.Duration(ms) * time.Millisecond
	}
	return s
}
