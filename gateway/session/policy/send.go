package policy

import "strings"

// Action is what a send rule does.
type Action string

const (
	Allow Action = "allow"
	Deny  Action = "deny"
)

// Match says which sessions a rule is about; empty fields match everything.
type Match struct {
	Channel   string
	ChatType  Chat
	KeyPrefix string // with or without the leading agent:<agent>:
}

// SendRule allows or denies answers to leave.
type SendRule struct {
	Action Action
	Match  Match
}

// SendPolicy decides whether answers of a session are delivered.
type SendPolicy struct {
	Rules   []SendRule
	Default Action // "" = Allow
}

// SendOverride is a session's own setting, by /send.
type SendOverride string

const (
	SendInherit SendOverride = "" // the rules decide
	SendOn      SendOverride = "on"
	SendOff     SendOverride = "off"
)

// Delivery is a session that has something to send. Channel and ChatType may
// be empty; the key then tells them.
type Delivery struct {
	Key      string
	Channel  string
	ChatType Chat
	Override SendOverride
}

// SendVerdict is the decision and what made it, for people.
type SendVerdict struct {
	Action Action
	Rule   int // index of the rule, -1 when none decided
	By     string
}

// Decide applies the policy. A session's own setting goes first; then one
// matching deny outweighs any number of allows; then the default.
func (p SendPolicy) Decide(k Keys, d Delivery) SendVerdict {
	switch d.Override {
	case SendOn:
		return SendVerdict{Allow, -1, "/send on"}
	case SendOff:
		return SendVerdict{Deny, -1, "/send off"}
	}
	named := k.Parse(d.Key)
	if d.Channel == "" {
		d.Channel = named.Channel
	}
	if d.ChatType == "" {
		d.ChatType = named.Chat()
	}
	allowed := -1
	for i, r := range p.Rules {
		if !r.Match.fits(d) {
			continue
		}
		if r.Action == Deny {
			return SendVerdict{Deny, i, "session.sendPolicy.rules"}
		}
		if allowed < 0 {
			allowed = i
		}
	}
	switch {
	case allowed >= 0:
		return SendVerdict{Allow, allowed, "session.sendPolicy.rules"}
	case p.Default == Deny:
		return SendVerdict{Deny, -1, "session.sendPolicy.default"}
	}
	return SendVerdict{Allow, -1, "session.sendPolicy.default"}
}

func (m Match) fits(d Delivery) bool {
	if m.Channel != "" && !strings.EqualFold(m.Channel, d.Channel) {
		return false
	}
	if m.ChatType != "" && m.ChatType != d.ChatType {
		return false
	}
	if m.KeyPrefix == "" || strings.HasPrefix(d.Key, m.KeyPrefix) {
		return true
	}
	short := d.Key
	if tail, ok := strings.CutPrefix(d.Key, "agent:"); ok {
		_, short, _ = strings.Cut(tail, ":")
	}
	return strings.HasPrefix(short, m.KeyPrefix)
}
