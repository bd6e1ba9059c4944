package rules

import (
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/session"
)

const maxDebounceMs = 60_000

// Incoming is what the file says of messages that come in from networks.
type Incoming struct {
	DebounceMs          int // quick messages of one sender are one turn; 0: off
	DebounceMsByChannel map[string]int
	HistoryLimit        int // messages of a group that were not for the assistant; 0: none is kept
}

// IncomingSection are the settings of these messages.
var IncomingSection = &config.Settings[Incoming]{
	Path: "messages", Name: "inbound",
	Default: Incoming{HistoryLimit: 50},
	Fields: func(in *Incoming) []config.Field {
		return []config.Field{
			config.Object{Key: "inbound", Fields: []config.Field{
				config.Number{
					Key: "debounceMs", To: &in.DebounceMs, Max: maxDebounceMs,
					Help: "wait this long for more text of the same sender before answering, in milliseconds. Files and commands do not wait",
				},
				config.Map[int]{
					Key: "byChannel", To: &in.DebounceMsByChannel, Name: "<channel>", Hint: config.Hint{Default: "none"},
					Help: "another time for a channel: `{ NETWORK: 5000 }`",
					One:  func(_ string, to *int) config.Field { return config.Number{To: to, Max: maxDebounceMs} },
				},
			}},
			config.Object{Key: "groupChat", Fields: []config.Field{
				config.Number{
					Key: "historyLimit", To: &in.HistoryLimit, Max: 1000,
					Help: "how many messages of a group that were not for the assistant it is told of with the next one that is; `0`: none",
				},
				config.Later("mentionPatterns", "visibleReplies"),
			}},
		}
	},
}

// Waiting is what the file says of messages that come while an answer is made.
type Waiting struct {
	Mode       session.Mode
	DebounceMs int
	Cap        int
	Drop       session.Drop
	ByChannel  map[string]string // a Mode
}

// QueueSection are the settings of these messages.
var QueueSection = &config.Settings[Waiting]{
	Path:    "messages.queue",
	Default: waiting(session.DefaultQueue()),
	Fields: func(w *Waiting) []config.Field {
		modes := []string{string(session.Steer), string(session.Followup), string(session.Collect), string(session.Interrupt)}
		return []config.Field{
			config.Choice{
				Key: "mode", To: (*string)(&w.Mode), Among: modes, Hint: config.Hint{Pane: "chat"},
				Help: "what a message does while an answer is made: `steer`, `followup`, `collect`, `interrupt`",
			},
			config.Number{
				Key: "debounceMs", To: &w.DebounceMs, Max: maxDebounceMs, Help: "the pause before queued messages are taken",
			},
			config.Number{Key: "cap", To: &w.Cap, Min: 1, Max: 1000, Hint: config.Hint{Pane: "chat"}, Help: "how many may wait"},
			config.Choice{
				Key: "drop", To: (*string)(&w.Drop), Among: []string{string(session.DropSummarize), string(session.DropOld), string(session.DropNew)},
				Hint: config.Hint{Pane: "chat"}, Help: "what gives way when more would wait: `summarize`, `old`, `new`",
			},
			config.Map[string]{
				Key: "byChannel", To: &w.ByChannel, Name: "<channel>", Hint: config.Hint{Default: "none"},
				Help: "another mode for a channel: `{ NETWORK: \"collect\" }`",
				One:  func(_ string, to *string) config.Field { return config.Choice{To: to, Among: modes} },
			},
		}
	},
}

func waiting(p session.QueuePolicy) Waiting {
	return Waiting{Mode: p.Mode, DebounceMs: int(p.Debounce / time.Millisecond), Cap: p.Cap, Drop: p.Drop}
}

// Queue is messages.queue for a route's channel.
func Queue(c config.Config, where string) session.QueuePolicy {
	w := QueueSection.Of(c)
	p := session.QueuePolicy{Mode: w.Mode, Debounce: time.Duration(w.DebounceMs) * time.Millisecond, Cap: w.Cap, Drop: w.Drop}
	surface := channel.Webchat
	if r, ok := channel.ParseRoute(where); ok {
		surface = r.Channel
	}
	if m := w.ByChannel[surface]; m != "" {
		p.Mode = session.Mode(m)
	}
	return p
}
