package config

import (
	"strings"
	"time"
)

// heartbeat reads agents.defaults.heartbeat.
func (d *decoder) heartbeat(n *node, h *Heartbeat) {
	d.object(n, append([]field{
		{"every", func(n *node) { h.Every = d.interval(n) }},
		{"prompt", func(n *node) { h.Prompt = d.filled(n, 4096) }},
		{"target", func(n *node) { h.Target = d.choice(n, "none", "last") }},
		{"ackMaxChars", func(n *node) { h.AckMaxChars = d.integer(n, 0, 10_000) }},
		{"includeSystemPromptSection", func(n *node) { h.IncludeSystemPromptSection = d.boolean(n) }},
		{"activeHours", func(n *node) {
			d.object(n,
				field{"start", func(n *node) { h.ActiveHours.Start = d.timeOfDay(n) }},
				field{"end", func(n *node) { h.ActiveHours.End = d.timeOfDay(n) }},
				field{"timezone", func(n *node) { h.ActiveHours.Timezone = d.timezone(n, "local", "user") }})
			if (h.ActiveHours.Start == "") != (h.ActiveHours.End == "") {
				d.issue(n.start, "activeHours needs both start and end, for example { start: \"08:00\", end: \"22:00\" }")
			}
		}},
	}, later("model", "session", "to", "accountId", "directPolicy", "lightContext", "isolatedSession", "includeReasoning", "timeoutSeconds", "skipWhenBusy", "suppressToolErrorWarnings")...)...)
}

// interval reads "30m", "1h30m" or "0m": nothing under a minute but nothing at
// all.
func (d *decoder) interval(n *node) string {
	const never = "0m"
	before := len(d.issues)
	s := strings.TrimSpace(d.filled(n, 32))
	if len(d.issues) > before {
		return never
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 || v > 0 && v < time.Minute || v > 366*24*time.Hour {
		d.issue(n.start, "write how often like \"30m\" or \"2h\", a minute at least; \"0m\" is never")
		return never
	}
	return s
}

// timeOfDay reads "08:00" up to "24:00".
func (d *decoder) timeOfDay(n *node) string {
	before := len(d.issues)
	s := strings.TrimSpace(d.filled(n, 5))
	if len(d.issues) > before {
		return ""
	}
	if _, ok := MinuteOfDay(s); !ok {
		d.issue(n.start, "write a time of day like \"08:00\", \"24:00\" at most")
		return ""
	}
	return s
}

// MinuteOfDay reads "08:00".
func MinuteOfDay(s string) (int, bool) {
	if s == "24:00" {
		return 24 * 60, true
	}
	at, err := time.Parse("15:04", s)
	return at.Hour()*60 + at.Minute(), err == nil && len(s) == 5
}
