package heartbeat

import (
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Settings is when the default agent looks by itself whether something needs
// attention, as the file says it.
type Settings struct {
	Every                      string // as "30m"; "0m": never
	Prompt                     string // empty: the usual one
	Target                     string // none, last
	AckMaxChars                int
	IncludeSystemPromptSection bool
	ActiveHours                ActiveHours
}

// ActiveHours is a part of the day, "08:00" to "22:00". Empty: all of it.
type ActiveHours struct {
	Start, End string
	Timezone   string // IANA, local or user; empty: user
}

// Section are the settings of heartbeats.
var Section = &config.Settings[Settings]{
	Path:    "agents.defaults.heartbeat",
	Default: Settings{Every: "0m", Target: "none", AckMaxChars: DefaultAck, IncludeSystemPromptSection: true},
	Fields: func(s *Settings) []config.Field {
		return []config.Field{
			config.Text{
				Key: "every", To: &s.Every, Max: 32, Is: interval, Hint: config.Hint{Pane: "schedules", Example: "30m"},
				Help: "how often, like `\"30m\"` or `\"2h\"`; `\"0m\"`: never",
			},
			config.Choice{
				Key: "target", To: &s.Target, Among: []string{"none", "last"}, Hint: config.Hint{Pane: "schedules"},
				Help: "`last`: what it finds is also sent to the chat where you talked last",
			},
			config.Text{
				Key: "prompt", To: &s.Prompt, Hint: config.Hint{Pane: "schedules", Default: "to read `HEARTBEAT.md` and follow it"},
				Help: "what is asked; with one of your own it is asked even when `HEARTBEAT.md` is empty",
			},
			config.Object{
				Key: "activeHours", Fields: s.ActiveHours.fields(), Check: s.ActiveHours.check, Hint: config.Hint{Default: "the whole day"},
				Help: "`{ start: \"08:00\", end: \"22:00\", timezone: \"user\" }`: when it may look; `timezone` is `user`, `local` or a name like " +
					"`Europe/Vienna`",
			},
			config.Number{
				Key: "ackMaxChars", To: &s.AckMaxChars, Min: 0, Max: 10_000,
				Help: "how many characters beside `HEARTBEAT_OK` still mean that nothing needs attention",
			},
			config.Switch{
				Key: "includeSystemPromptSection", To: &s.IncludeSystemPromptSection,
				Help: "`false`: other answers are told nothing of heartbeats and do not read `HEARTBEAT.md`",
			},
			config.Later("model", "session", "to", "accountId", "directPolicy", "lightContext", "isolatedSession", "includeReasoning",
				"timeoutSeconds", "skipWhenBusy", "suppressToolErrorWarnings"),
		}
	},
}

func (h *ActiveHours) fields() []config.Field {
	return []config.Field{
		config.Text{Key: "start", To: &h.Start, Max: 5, Is: config.TimeOfDay},
		config.Text{Key: "end", To: &h.End, Max: 5, Is: config.TimeOfDay},
		config.Text{Key: "timezone", To: &h.Timezone, Read: config.Timezone("local", "user")},
	}
}

func (h *ActiveHours) check() error {
	if (h.Start == "") != (h.End == "") {
		return errors.New("activeHours needs both start and end, for example { start: \"08:00\", end: \"22:00\" }")
	}
	return nil
}

// interval is "30m", "1h30m" or "0m": nothing under a minute but nothing at all.
func interval(s string) (string, error) {
	s = strings.TrimSpace(s)
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 || v > 0 && v < time.Minute || v > 366*24*time.Hour {
		return "", errors.New("write how often like \"30m\" or \"2h\", a minute at least; \"0m\" is never")
	}
	return s, nil
}

// Interval is how often; 0 means never.
func (s Settings) Interval() time.Duration {
	v, err := time.ParseDuration(s.Every)
	if err != nil || v < time.Minute {
		return 0
	}
	return v
}
