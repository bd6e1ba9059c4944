package heartbeat

import (
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Settings are how an agent looks by itself whether something needs attention.
type Settings struct {
	Every                      string // as "30m"; "0m": never
	Prompt                     string // empty: the usual one
	Model                      string // empty: the agent's
	Session                    string // the conversation that it is done in; empty: by Isolated
	Isolated                   *bool  // nil: yes, in one of its own that is gone when nothing was found
	Light                      *bool  // without the workspace's files but HEARTBEAT.md
	Target                     string // none, last, owner, or a network
	To                         string // there
	AccountID                  string
	DirectPolicy               string // allow, block
	TimeoutSeconds             int    // 0: as often, ten minutes at most
	AckMaxChars                int
	IncludeSystemPromptSection bool
	ActiveHours                ActiveHours

	Own bool // of an agent: its entry says something
}

// ActiveHours is a part of the day, "08:00" to "22:00". Empty: all of it.
type ActiveHours struct {
	Start, End string
	Timezone   string // IANA, local or user; empty: user
}

// The targets that are no network.
const (
	TargetNone  = "none"
	TargetLast  = "last"
	TargetOwner = "owner"
)

// Section are the settings of heartbeats.
var Section = &config.Settings[Settings]{
	Path:    "agents.defaults.heartbeat",
	Default: Settings{Every: "0m", Target: TargetNone, DirectPolicy: "allow", AckMaxChars: DefaultAck, IncludeSystemPromptSection: true},
	Fields: func(s *Settings) []config.Field {
		return append(s.fields("schedules"),
			config.Number{
				Key: "ackMaxChars", To: &s.AckMaxChars, Min: 0, Max: 10_000,
				Help: "how many characters beside `HEARTBEAT_OK` still mean that nothing needs attention",
			},
			config.Switch{
				Key: "includeSystemPromptSection", To: &s.IncludeSystemPromptSection,
				Help: "`false`: other answers are told nothing of heartbeats and do not read `HEARTBEAT.md`",
			},
			config.Later("includeReasoning", "skipWhenBusy", "suppressToolErrorWarnings", "agentId"))
	},
}

// AgentSection are what single agents say in the place of that.
var AgentSection = &config.Entries[Settings]{
	Path: "agents.list[]", Name: "heartbeat",
	Fields: func(s *Settings) []config.Field {
		return []config.Field{config.Object{
			Key: "heartbeat", Fields: append(s.fields(""), config.Later("ackMaxChars", "includeSystemPromptSection", "includeReasoning",
				"skipWhenBusy", "suppressToolErrorWarnings")), Check: func() error { s.Own = true; return nil },
			Help: "its heartbeat, in the place of `agents.defaults.heartbeat`; once an agent has one, only agents with one have heartbeats",
		}}
	},
}

// Of are the settings of the agents that have heartbeats: those that say so
// themselves, or the default agent.
func Of(c config.Config, ids []string, def string) map[string]Settings {
	out, base := map[string]Settings{}, Section.Of(c)
	for _, id := range ids {
		if own, set := AgentSection.Of(c, id); set && own.Own {
			out[id] = own.over(base)
		}
	}
	if len(out) == 0 {
		out[def] = base
	}
	return out
}

// over are the settings of an agent where it says something, else those of all.
func (s Settings) over(base Settings) Settings {
	for _, f := range []struct{ own, to *string }{
		{&s.Every, &base.Every}, {&s.Prompt, &base.Prompt}, {&s.Model, &base.Model}, {&s.Session, &base.Session}, {&s.Target, &base.Target},
		{&s.To, &base.To}, {&s.AccountID, &base.AccountID}, {&s.DirectPolicy, &base.DirectPolicy},
	} {
		if *f.own != "" {
			*f.to = *f.own
		}
	}
	if s.Isolated != nil {
		base.Isolated = s.Isolated
	}
	if s.Light != nil {
		base.Light = s.Light
	}
	if s.TimeoutSeconds > 0 {
		base.TimeoutSeconds = s.TimeoutSeconds
	}
	if s.ActiveHours != (ActiveHours{}) {
		base.ActiveHours = s.ActiveHours
	}
	return base
}

// Asks is what is asked.
func (s Settings) Asks() string {
	if s.Prompt != "" {
		return s.Prompt
	}
	return DefaultPrompt
}

// Timeout is how long an answer may take.
func (s Settings) Timeout() time.Duration {
	if s.TimeoutSeconds > 0 {
		return time.Duration(s.TimeoutSeconds) * time.Second
	}
	return min(s.Interval(), 10*time.Minute)
}

// fields are the keys of all and of one agent; pane is where the page shows some.
func (s *Settings) fields(pane string) []config.Field {
	return []config.Field{
		config.Text{
			Key: "every", To: &s.Every, Max: 32, Is: interval, Hint: config.Hint{Pane: pane, Example: "30m"},
			Help: "how often, like `\"30m\"` or `\"2h\"`; `\"0m\"`: never",
		},
		config.Choice{
			Key: "target", To: &s.Target, Among: []string{TargetNone, TargetLast, TargetOwner}, Read: target, Hint: config.Hint{Pane: pane},
			Help: "where what it finds is sent beside the main conversation: `none`, `last` (where you talked last), `owner` (the first of " +
				"`commands.ownerAllowFrom`), or a network, with `to`",
		},
		config.Text{Key: "to", To: &s.To, Max: 256, Help: "the chat there, when `target` is a network"},
		config.Text{Key: "accountId", To: &s.AccountID, Max: 64, Help: "by which of the accounts there"},
		config.Choice{
			Key: "directPolicy", To: &s.DirectPolicy, Among: []string{"allow", "block"}, Help: "`block`: nothing is sent into chats of two",
		},
		config.Text{
			Key: "prompt", To: &s.Prompt, Hint: config.Hint{Pane: pane, Default: "to read `HEARTBEAT.md` and follow it"},
			Help: "what is asked; with one of your own it is asked even when `HEARTBEAT.md` is empty",
		},
		config.Text{Key: "model", To: &s.Model, Max: 256, Hint: config.Hint{Default: "the assistant's"}, Help: "the model that is asked"},
		config.Text{
			Key: "session", To: &s.Session, Max: 256, Hint: config.Hint{Default: "one of its own"},
			Help: "the conversation that it is done in: `main`, or a key",
		},
		config.Maybe{
			Key: "isolatedSession", To: &s.Isolated, Hint: config.Hint{Default: "`true`"},
			Help: "`false`: it is done in the main conversation, and what was said there is sent along each time",
		},
		config.Maybe{
			Key: "lightContext", To: &s.Light, Hint: config.Hint{Default: "`false`"},
			Help: "`true`: of the workspace's files only `HEARTBEAT.md` is read",
		},
		config.Number{
			Key: "timeoutSeconds", To: &s.TimeoutSeconds, Min: 1, Max: 86_400, Hint: config.Hint{Default: "as often, 600 at most"},
			Help: "how long it may take",
		},
		config.Object{
			Key: "activeHours", Fields: s.ActiveHours.fields(), Check: s.ActiveHours.check, Hint: config.Hint{Default: "the whole day"},
			Help: "`{ start: \"08:00\", end: \"22:00\", timezone: \"user\" }`: when it may look; `timezone` is `user`, `local` or a name like " +
				"`Europe/Vienna`",
		},
	}
}

// target reads none, last, owner or the name of a network.
func target(v config.Value) string {
	s := strings.ToLower(strings.TrimSpace(v.Text(64)))
	if strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' }) {
		v.Wrong("it is none, last, owner or the name of a network; the chat there stands in to")
		return ""
	}
	return s
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
