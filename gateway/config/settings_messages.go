package config

import (
	"maps"
	"slices"
)

// Session is about conversations: which messages share one, and when it ends.
type Session struct {
	MainKey        string                  `json:"mainKey"`
	DMScope        string                  `json:"dmScope"` // main, per-peer, per-channel-peer, per-account-channel-peer
	IdentityLinks  map[string][]string     `json:"identityLinks,omitempty"`
	Reset          *SessionReset           `json:"reset,omitempty"`
	ResetByType    map[string]SessionReset `json:"resetByType,omitempty"` // dm, group, thread
	ResetByChannel map[string]SessionReset `json:"resetByChannel,omitempty"`
	ResetTriggers  []string                `json:"resetTriggers,omitempty"` // beside /new and /reset
	IdleMinutes    int                     `json:"idleMinutes,omitempty"`   // from before reset; 0: not set
	SendPolicy     SendPolicy              `json:"sendPolicy"`
}

// SessionReset is one rule; what is not set comes from the rule above it.
type SessionReset struct {
	Mode        string `json:"mode,omitempty"` // daily, idle
	AtHour      *int   `json:"atHour,omitempty"`
	IdleMinutes int    `json:"idleMinutes,omitempty"`
}

// SendPolicy says which sessions may send.
type SendPolicy struct {
	Rules   []SendRule `json:"rules,omitempty"`
	Default string     `json:"default"` // allow, deny
}

// SendRule allows or denies what it matches; empty fields match everything.
type SendRule struct {
	Action    string `json:"action"` // allow, deny
	Channel   string `json:"channel,omitempty"`
	ChatType  string `json:"chatType,omitempty"` // direct, group, channel
	KeyPrefix string `json:"keyPrefix,omitempty"`
}

// Messages is about what comes in, waits and goes out.
type Messages struct {
	Inbound        InboundMessages `json:"inbound"`
	GroupChat      GroupChat       `json:"groupChat"`
	Queue          Queue           `json:"queue"`
	ResponsePrefix string          `json:"responsePrefix,omitempty"`
}

// InboundMessages gathers quick messages of one sender into one turn.
type InboundMessages struct {
	DebounceMs int            `json:"debounceMs"` // 0: off
	ByChannel  map[string]int `json:"byChannel,omitempty"`
}

// GroupChat is about messages that were not meant for the assistant.
type GroupChat struct {
	HistoryLimit int `json:"historyLimit"` // 0: none is kept
}

// Queue says what happens to a message that arrives while an answer is made.
type Queue struct {
	Mode       string            `json:"mode"` // steer, followup, collect, interrupt
	DebounceMs int               `json:"debounceMs"`
	Cap        int               `json:"cap"`
	Drop       string            `json:"drop"` // summarize, old, new
	ByChannel  map[string]string `json:"byChannel,omitempty"`
}

// SilentReply says where an answer may be silence: allow or disallow.
type SilentReply struct {
	Group    string `json:"group"`
	Internal string `json:"internal"`
}

// Surface overrides defaults for one channel or client. Empty fields do not.
type Surface struct {
	SilentReply SilentReply `json:"silentReply"`
}

func defaultSession() Session {
	return Session{MainKey: "main", DMScope: "main", SendPolicy: SendPolicy{Default: "allow"}}
}

func defaultMessages() Messages {
	return Messages{
		GroupChat: GroupChat{HistoryLimit: 50},
		Queue:     Queue{Mode: "steer", DebounceMs: 500, Cap: 20, Drop: "summarize"},
	}
}

// clone copies everything that can be changed.
func (s Session) clone() Session {
	s.IdentityLinks = maps.Clone(s.IdentityLinks)
	for name, ids := range s.IdentityLinks {
		s.IdentityLinks[name] = slices.Clone(ids)
	}
	if s.Reset != nil {
		r := s.Reset.clone()
		s.Reset = &r
	}
	s.ResetByType, s.ResetByChannel = cloneResets(s.ResetByType), cloneResets(s.ResetByChannel)
	s.ResetTriggers = slices.Clone(s.ResetTriggers)
	s.SendPolicy.Rules = slices.Clone(s.SendPolicy.Rules)
	return s
}

func cloneResets(m map[string]SessionReset) map[string]SessionReset {
	m = maps.Clone(m)
	for k, r := range m {
		m[k] = r.clone()
	}
	return m
}

func (r SessionReset) clone() SessionReset {
	if r.AtHour != nil {
		h := *r.AtHour
		r.AtHour = &h
	}
	return r
}

func (m Messages) clone() Messages {
	m.Inbound.ByChannel = maps.Clone(m.Inbound.ByChannel)
	m.Queue.ByChannel = maps.Clone(m.Queue.ByChannel)
	return m
}
