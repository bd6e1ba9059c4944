package config

import "time"

// Heartbeat is when the default agent looks by itself whether something needs
// attention.
type Heartbeat struct {
	Every                      string      `json:"every"`            // as "30m"; "0m": never
	Prompt                     string      `json:"prompt,omitempty"` // empty: the usual one
	Target                     string      `json:"target"`           // none, last
	AckMaxChars                int         `json:"ackMaxChars"`
	IncludeSystemPromptSection bool        `json:"includeSystemPromptSection"`
	ActiveHours                ActiveHours `json:"activeHours,omitzero"`
}

// Interval is how often; 0 means never.
func (h Heartbeat) Interval() time.Duration {
	v, err := time.ParseDuration(h.Every)
	if err != nil || v < time.Minute {
		return 0
	}
	return v
}

// ActiveHours is a part of the day, "08:00" to "22:00". Empty: all of it.
type ActiveHours struct {
	Start    string `json:"start,omitempty"`
	End      string `json:"end,omitempty"`
	Timezone string `json:"timezone,omitempty"` // IANA, local or user; empty: user
}

func defaultHeartbeat() Heartbeat {
	return Heartbeat{Every: "0m", Target: "none", AckMaxChars: 300, IncludeSystemPromptSection: true}
}
