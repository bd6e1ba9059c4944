package job

import (
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Settings are those of jobs that are due by themselves.
type Settings struct {
	Enabled           bool
	SkipMissedJobs    bool
	MaxConcurrentRuns int
	SessionRetention  string
	RemindTo          string // last, webchat, or a network and somebody there
	WebhookToken      config.Secret
	WebhookPolicy     WebhookPolicy
	Triggers          bool // conditions, scripts, programs that are watched
	FailureAlert      FailureAlert
}

// WebhookPolicy says which addresses results may be posted to beside those of the
// public internet.
type WebhookPolicy struct {
	Allowed, Blocked []string
}

// FailureAlert says when failures of jobs are told.
type FailureAlert struct {
	Enabled           bool
	After, CooldownMs int
	IncludeSkipped    bool
	Mode              string // announce, webhook
	Channel, To       string // where they are told; "": where results go
	AccountID         string
}

// Section are the settings of jobs.
var Section = &config.Settings[Settings]{
	Path: "cron",
	Default: Settings{
		Enabled: true, Triggers: true, MaxConcurrentRuns: 8, SessionRetention: "24h", RemindTo: "last",
		FailureAlert: FailureAlert{Enabled: true, After: 2, CooldownMs: 3_600_000, Mode: protocol.CronDeliverAnnounce},
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
			config.Text{
				Key: "remindTo", To: &s.RemindTo, Max: 200, Is: remindTo, Hint: config.Hint{Pane: "schedules", Example: "NETWORK:CHAT"},
				Help: "where reminders reach you beside the page and its notifications, where a job says nothing else: `\"last\"`, the network " +
					"where you wrote last; `\"webchat\"`, nowhere else; or a network and your chat there, `\"NETWORK:CHAT\"`",
			},
			config.Hidden{Key: "webhookToken", To: &s.WebhookToken, Help: "is sent as bearer token to the addresses that results are posted to"},
			config.Object{
				Key: "failureAlert", Help: "when failures of jobs are told; a job can have its own",
				Fields: []config.Field{
					config.Switch{Key: "enabled", To: &s.FailureAlert.Enabled},
					config.Number{Key: "after", To: &s.FailureAlert.After, Min: 1, Max: 100},
					config.Number{Key: "cooldownMs", To: &s.FailureAlert.CooldownMs, Min: 0, Max: 30 * 24 * 3600 * 1000},
					config.Switch{Key: "includeSkipped", To: &s.FailureAlert.IncludeSkipped},
					config.Choice{
						Key: "mode", To: &s.FailureAlert.Mode, Among: []string{protocol.CronDeliverAnnounce, protocol.CronDeliverWebhook},
						Help: "`\"webhook\"`: they are posted to the address in `to`",
					},
					config.Text{
						Key: "channel", To: &s.FailureAlert.Channel, Max: 64, Empty: true,
						Help: "the network on which they are told, where a job says nothing else; without it and `to`: where its results go",
					},
					config.Text{Key: "to", To: &s.FailureAlert.To, Max: 2048, Empty: true, Help: "who is told there, or the address"},
					config.Text{Key: "accountId", To: &s.FailureAlert.AccountID, Max: 64, Empty: true, Help: "the account there"},
				},
			},
			config.Object{
				Key: "triggers", Help: "what runs with nobody there and without a model",
				Fields: []config.Field{config.Switch{
					Key: "enabled", To: &s.Triggers, Help: "`false`: no scripts of jobs, no conditions, and no programs that are watched",
				}},
			},
			config.Object{
				Key: "webhookSsrfPolicy", Help: "which addresses results may be posted to; without it those of the public internet",
				Hint: config.Hint{Advanced: true},
				Fields: []config.Field{
					config.Texts{
						Key: "allowedHostnames", To: &s.WebhookPolicy.Allowed, Max: 253, Unset: true,
						Help: "hosts that may be on this machine or in a private network, on any port",
					},
					config.Texts{
						Key: "blockedHostnames", To: &s.WebhookPolicy.Blocked, Max: 253, Unset: true,
						Help: "hosts that nothing is posted to; `*.example.org` is all below",
					},
					config.Later("dangerouslyAllowPrivateNetwork"), // nothing turns the guard off: hosts are named
				},
			},
			config.Later("webhook", "store", "runLog", "retry"),
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

func remindTo(s string) (string, error) {
	s = strings.TrimSpace(s)
	network, to, _ := strings.Cut(s, ":")
	if s != "last" && s != "webchat" && (network == "" || strings.TrimSpace(to) == "") {
		return "", errors.New("write \"last\", \"webchat\", or a network and your chat there, like \"NETWORK:CHAT\"")
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
