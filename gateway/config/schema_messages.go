package config

import (
	"strings"
	"time"
)

const (
	maxDebounceMs = 60_000
	maxMinutes    = 525_600 // a year
	maxHistory    = 1000
)

func (d *decoder) session(n *node, s *Session) {
	fields := []field{
		{"mainKey", func(n *node) {
			s.MainKey = d.filled(n, 64)
			if strings.ContainsAny(s.MainKey, ": \t") {
				d.issue(n.start, "the main conversation's name may not hold spaces or colons")
			}
		}},
		{"scope", d.sessionScope}, // groups always have sessions of their own
		{"dmScope", func(n *node) {
			s.DMScope = d.choice(n, "main", "per-peer", "per-channel-peer", "per-account-channel-peer")
		}},
		{"identityLinks", func(n *node) { s.IdentityLinks = d.identityLinks(n) }},
		{"reset", func(n *node) { s.Reset = new(d.reset(n)) }},
		{"resetByType", func(n *node) { s.ResetByType = d.resetByType(n) }},
		{"resetByChannel", func(n *node) {
			s.ResetByChannel = make(map[string]SessionReset, len(n.items))
			d.each(n, func(id string, _ int, v *node) { s.ResetByChannel[id] = d.reset(v) })
		}},
		{"resetTriggers", func(n *node) { d.list(n, func(v *node) { s.ResetTriggers = append(s.ResetTriggers, d.filled(v, 64)) }) }},
		{"idleMinutes", func(n *node) { s.IdleMinutes = d.integer(n, 1, maxMinutes) }},
		{"sendPolicy", func(n *node) { d.sendPolicy(n, &s.SendPolicy) }},
	}
	d.object(n, append(fields, later("store", "agentToAgent", "maintenance", "typingMode",
		"typingIntervalSeconds", "threadBindings", "parentForkMaxTokens")...)...)
}

// identityLinks reads { alice: ["NETWORK:123", "OTHER:456"] }.
func (d *decoder) identityLinks(n *node) map[string][]string {
	links := make(map[string][]string, len(n.items))
	owner := map[string]string{}
	d.each(n, func(name string, at int, v *node) {
		if strings.TrimSpace(name) == "" {
			d.issue(at, "a person needs a name")
		}
		d.list(v, func(v *node) {
			id := strings.TrimSpace(d.filled(v, 256))
			channel, peer, ok := strings.Cut(id, ":")
			switch {
			case id == "":
			case !ok || channel == "" || peer == "":
				d.issue(v.start, "write the channel and the sender's id, for example \"%s:123456789\"", d.exampleNetwork())
			case owner[id] != "" && owner[id] != name:
				d.issue(v.start, "this id already belongs to another person of this list")
			default:
				owner[id] = name
				links[name] = append(links[name], id)
			}
		})
	})
	return links
}

func (d *decoder) resetByType(n *node) map[string]SessionReset {
	out := map[string]SessionReset{}
	read := func(typ string) func(*node) { return func(n *node) { out[typ] = d.reset(n) } }
	d.object(n, field{"dm", read("dm")}, field{"direct", read("dm")}, field{"group", read("group")}, field{"thread", read("thread")})
	return out
}

func (d *decoder) reset(n *node) (r SessionReset) {
	d.object(n,
		field{"mode", func(n *node) { r.Mode = d.choice(n, "daily", "idle") }},
		field{"atHour", func(n *node) { r.AtHour = new(d.integer(n, 0, 23)) }},
		field{"idleMinutes", func(n *node) { r.IdleMinutes = d.integer(n, 1, maxMinutes) }})
	return r
}

func (d *decoder) sendPolicy(n *node, p *SendPolicy) {
	d.object(n,
		field{"default", func(n *node) { p.Default = d.choice(n, "allow", "deny") }},
		field{"rules", func(n *node) {
			d.list(n, func(v *node) {
				var r SendRule
				before := len(d.issues)
				d.object(v,
					field{"action", func(n *node) { r.Action = d.choice(n, "allow", "deny") }},
					field{"match", func(n *node) {
						d.object(n,
							field{"channel", func(n *node) { r.Channel = d.filled(n, 64) }},
							field{"chatType", func(n *node) { r.ChatType = d.choice(n, "direct", "group", "channel") }},
							field{"keyPrefix", func(n *node) { r.KeyPrefix = d.filled(n, 512) }})
					}})
				if r.Action == "" && len(d.issues) == before {
					d.issue(v.start, "a rule needs an action: allow or deny")
				}
				p.Rules = append(p.Rules, r)
			})
		}})
}

func (d *decoder) messages(n *node, m *Messages) {
	fields := []field{
		{"inbound", func(n *node) {
			d.object(n,
				field{"debounceMs", func(n *node) { m.Inbound.DebounceMs = d.integer(n, 0, maxDebounceMs) }},
				field{"byChannel", func(n *node) {
					m.Inbound.ByChannel = make(map[string]int, len(n.items))
					d.each(n, func(id string, _ int, v *node) { m.Inbound.ByChannel[id] = d.integer(v, 0, maxDebounceMs) })
				}})
		}},
		{"groupChat", func(n *node) {
			fields := []field{{"historyLimit", func(n *node) { m.GroupChat.HistoryLimit = d.integer(n, 0, maxHistory) }}}
			d.object(n, append(fields, later("mentionPatterns", "visibleReplies")...)...)
		}},
		{"queue", func(n *node) { d.queue(n, &m.Queue) }},
		{"responsePrefix", func(n *node) { m.ResponsePrefix = d.text(n, 64) }},
	}
	d.object(n, append(fields, later("messagePrefix", "visibleReplies", "ackReaction", "ackReactionScope", "removeAckAfterReply",
		"suppressToolErrors", "statusReactions", "tts", "usageTemplate", "responseUsage")...)...)
}

func (d *decoder) queue(n *node, q *Queue) {
	mode := func(n *node) string { return d.choice(n, "steer", "followup", "collect", "interrupt") }
	d.object(n,
		field{"mode", func(n *node) { q.Mode = mode(n) }},
		field{"debounceMs", func(n *node) { q.DebounceMs = d.integer(n, 0, maxDebounceMs) }},
		field{"cap", func(n *node) { q.Cap = d.integer(n, 1, 1000) }},
		field{"drop", func(n *node) { q.Drop = d.choice(n, "summarize", "old", "new") }},
		field{"byChannel", func(n *node) {
			q.ByChannel = make(map[string]string, len(n.items))
			d.each(n, func(id string, _ int, v *node) { q.ByChannel[id] = mode(v) })
		}})
}

// silentReply: direct conversations are never silent by rule.
func (d *decoder) silentReply(n *node, s *SilentReply) {
	allow := func(to *string) func(*node) { return func(n *node) { *to = d.choice(n, "allow", "disallow") } }
	d.object(n,
		field{"direct", func(n *node) { d.choice(n, "disallow") }},
		field{"group", allow(&s.Group)},
		field{"internal", allow(&s.Internal)})
}

func (d *decoder) surfaces(n *node) map[string]Surface {
	out := make(map[string]Surface, len(n.items))
	d.each(n, func(id string, _ int, v *node) {
		var s Surface
		d.object(v, field{"silentReply", func(n *node) { d.silentReply(n, &s.SilentReply) }})
		out[id] = s
	})
	return out
}

// timezone reads a name of the time zone database, or one of the words. A zone
// that only this machine does not know is no mistake of the file.
func (d *decoder) timezone(n *node, words ...string) string {
	s := strings.TrimSpace(d.filled(n, 64))
	for _, w := range words {
		if strings.EqualFold(s, w) {
			return w
		}
	}
	if s == "" {
		return ""
	}
	if _, err := time.LoadLocation(s); err != nil || s == "Local" {
		d.warn(n.start, "this time zone is not known here, so this machine's is used; write one like Europe/Vienna")
	}
	return s
}

// sessionScope: "global" is known and not had.
func (d *decoder) sessionScope(n *node) {
	if n.kind == kindString && n.text == "global" {
		d.warn(n.start, "\"global\" is not used: groups always have conversations of their own, as with \"per-sender\"")
		return
	}
	d.choice(n, "per-sender")
}
