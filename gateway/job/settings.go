package job

import (
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Settings are those of jobs that are due by themselves.
type Settings struct {
	Enabled           bool
	SkipMissedJobs    bool
	MaxConcurrentRuns int
	SessionRetention  string
	WebhookToken      config.Secret
	FailureAlert      FailureAlert
}

// FailureAlert says when failures of jobs are told.
type FailureAlert struct {
	Enabled           bool
	After, CooldownMs int
	IncludeSkipped    bool
}

// Section are the settings of jobs.
var Section = &config.Settings[Settings]{
	Path: "cron",
	Default: Settings{
		Enabled: true, MaxConcurrentRuns: 8, SessionRetention: "24h", FailureAlert: FailureAlert{Enabled: true, After: 2, CooldownMs: 3_600_000},
	},
	Fields: func(s *Settings) []config.Field {
		return []config.Field{
			config.Switch{
				Key: "enabled", To: &s.Enabled, Help: "`false`: no job runs by itself; they are kept", Hint: config.Hint{Pane: "schedules"},
			},
			config.Switch{
				Key: "skipMissedJobs", To: &s.SkipMissedJobs, Hint: config.Hint{Pane: "schedules"},
				Help: "`true`: what was missed while the computer was off or asleep is not made up for, where a job says nothing else",
			},
			config.Number{
				Key: "maxConcurrentRuns", To: &s.MaxConcurrentRuns, Min: 1, Max: 64, Hint: config.Hint{Advanced: true},
				Help: "how many jobs run at the same time; others wait",
			},
			config.Text{
				Key: "sessionRetention", To: &s.SessionRetention, Max: 32, Is: retention, Hint: config.Hint{Advanced: true, Example: "24h"},
				Help: "how long the conversations of isolated runs are kept; `\"0\"`: for good",
			},
			config.Hidden{Key: "webhookToken", To: &s.WebhookToken, Help: "is sent as bearer token to the addresses that results are posted to"},
			config.Object{
				Key: "failureAlert", Help: "when failures of jobs are told; a job can have its own",
				Fields: []config.Field{
					config.Switch{Key: "enabled", To: &s.FailureAlert.Enabled},
					config.Number{Key: "after", To: &s.FailureAlert.After, Min: 1, Max: 100},
					config.Number{Key: "cooldownMs", To: &s.FailureAlert.CooldownMs, Min: 0, Max: 30 * 24 * 3600 * 1000},
					config.Switch{Key: "includeSkipped", To: &s.FailureAlert.IncludeSkipped},
					config.Later("mode", "channel", "to", "accountId"),
				},
			},
			config.Later("triggers", "webhook", "webhookSsrfPolicy", "store", "runLog", "retry"),
		}
	},
}

func retention(s string) (string, error) {
	s = strings.TrimSpace(s)
	if v, err := time.ParseDuration(s); s != "0" && (err != nil || v < time.Minute) {
		return "", errors.New("write how long like \"24h\", a minute at least; \"0\" keeps them")
	}
	return s, nil
}

// Retention is how long the sessions of isolated runs are kept; 0: for good.
func (s Settings) Retention() time.Duration {
	v, err := time.ParseDuration(s.SessionRetention)
	if err != nil || v < 0 {
		return 0
	}
	return v
}
