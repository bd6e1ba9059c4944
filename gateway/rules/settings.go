package rules

import "github.com/hearth-assistant/hearth/gateway/config"

// Runs bound what is answered.
type Runs struct {
	TimeoutSeconds int
	MaxConcurrent  int // answers at the same time in all sessions; 0: 1000
}

// RunsSection are the settings of how long and how many.
var RunsSection = &config.Settings[Runs]{
	Path: "agents.defaults", Name: "runs",
	Default: Runs{TimeoutSeconds: 600},
	Fields: func(r *Runs) []config.Field {
		return []config.Field{
			config.Number{
				Key: "timeoutSeconds", To: &r.TimeoutSeconds, Min: 1, Max: 86_400, Hint: config.Hint{Pane: "models"},
				Help: "how long one answer may take, 1 to 86400",
			},
			config.Number{
				Key: "maxConcurrent", To: &r.MaxConcurrent, Min: 1, Max: 10_000, Hint: config.Hint{Default: "`1000`", Restart: true},
				Help: "how many answers are made at the same time in all sessions together, 1 to 10000; more wait. Used at the next start",
			},
		}
	},
}

// Envelope is the line before each message of a network.
type Envelope struct {
	Timezone  string // local, utc, user, or IANA
	Timestamp string // on, off
	Elapsed   string // on, off
}

// EnvelopeSection are the settings of that line.
var EnvelopeSection = &config.Settings[Envelope]{
	Path: "agents.defaults", Name: "envelope",
	Default: Envelope{Timezone: "local", Timestamp: "on", Elapsed: "on"},
	Fields: func(e *Envelope) []config.Field {
		return []config.Field{
			config.Text{
				Key: "envelopeTimezone", To: &e.Timezone, Max: 64, Read: config.Timezone("local", "utc", "user"),
				Help: "the zone of the time before each message from a channel: `local` (this machine), `utc`, `user` (`userTimezone`), or a name " +
					"like `\"Europe/Vienna\"`",
			},
			config.Choice{Key: "envelopeTimestamp", To: &e.Timestamp, Among: []string{"on", "off"}, Help: "`off` leaves the time out"},
			config.Choice{
				Key: "envelopeElapsed", To: &e.Elapsed, Among: []string{"on", "off"},
				Help: "`off` leaves out how long ago the message before was (`+2m`)",
			},
		}
	},
}
