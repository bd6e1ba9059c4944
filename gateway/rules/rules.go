// Package rules reads the rules of sessions and messages from the settings: what
// session.* and messages.queue mean to package session and its policies.
package rules

import (
	"cmp"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/heartbeat"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
)

// Keys are the rules of session keys.
func Keys(c config.Config) policy.Keys {
	return policy.Keys{MainKey: c.Session.MainKey, DMScope: policy.Scope(c.Session.DMScope), IdentityLinks: c.Session.IdentityLinks}
}

// Main is the key of the main conversation of an agent, by the settings now.
func Main(settings *config.File, agent string) string {
	return Keys(settings.Snapshot().Config).Main(agent)
}

// Sending is who may be written to.
func Sending(c config.Config) policy.SendPolicy {
	p := policy.SendPolicy{Default: policy.Action(c.Session.SendPolicy.Default)}
	for _, r := range c.Session.SendPolicy.Rules {
		p.Rules = append(p.Rules, policy.SendRule{Action: policy.Action(r.Action), Match: policy.Match{
			Channel: r.Channel, ChatType: policy.Chat(r.ChatType), KeyPrefix: r.KeyPrefix,
		}})
	}
	return p
}

// Resets are the rules by which sessions begin anew.
func Resets(c config.Config) policy.Resets {
	one := func(r config.SessionReset) policy.Reset {
		return policy.Reset{Mode: policy.ResetMode(r.Mode), AtHour: r.AtHour, IdleMinutes: r.IdleMinutes}
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

// Queue is messages.queue for a route's channel.
func Queue(c config.Config, where string) session.QueuePolicy {
	q := c.Messages.Queue
	p := session.QueuePolicy{Mode: session.Mode(q.Mode), Debounce: time.Duration(q.DebounceMs) * time.Millisecond, Cap: q.Cap,
		Drop: session.Drop(q.Drop)}
	surface := channel.Webchat
	if r, ok := channel.ParseRoute(where); ok {
		surface = r.Channel
	}
	if m := q.ByChannel[surface]; m != "" {
		p.Mode = session.Mode(m)
	}
	return p
}

// Sessions are the rules of sessions that are looked up whenever they are needed;
// it implements session.Settings.
type Sessions struct{ Settings *config.File }

// Queue is messages.queue for a route's channel.
func (s Sessions) Queue(route string) session.QueuePolicy {
	return Queue(s.Settings.Snapshot().Config, route)
}

// Timeout of a run that names none.
func (s Sessions) Timeout() time.Duration {
	return time.Duration(RunsSection.Of(s.Settings.Snapshot().Config).TimeoutSeconds) * time.Second
}

// HeartbeatPrompt is what a heartbeat asks.
func HeartbeatPrompt(c config.Config) string {
	return cmp.Or(heartbeat.Section.Of(c).Prompt, heartbeat.DefaultPrompt)
}
