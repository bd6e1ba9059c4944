package backup

import (
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/config"
)

// Settings are where and when backups are made.
type Settings struct {
	Folder     string
	Recipients []string // of age: who can open them
	Every      string   // as "24h"; "0": only when asked for
	Secrets    bool
	Keep       Keep
}

// Keep is how many backups are kept.
type Keep struct{ Daily, Weekly, Monthly int }

// Section are the settings of backups.
var Section = &config.Settings[Settings]{
	Path:    "backup",
	Default: Settings{Every: "24h", Keep: Keep{Daily: 7, Weekly: 4, Monthly: 12}},
	Fields: func(s *Settings) []config.Field {
		return []config.Field{
			config.Text{
				Key: "folder", To: &s.Folder, Max: 4096, Is: config.Folder,
				Help: "the folder that backups go to; `hearth backup setup` chooses it together with a passphrase",
			},
			config.Texts{
				Key: "recipients", To: &s.Recipients, Max: 4096, Unset: true, Is: recipient,
				Help: "who can open the backups: public keys of age (`age1…`)",
			},
			config.Text{Key: "every", To: &s.Every, Max: 32, Is: interval, Help: "how often one is made, an hour at least; `\"0\"`: " +
				"only when asked for"},
			config.Switch{
				Key: "secrets", To: &s.Secrets,
				Help: "`true`: they also hold keys, passwords, and what makes this Hearth the one that your devices know",
			},
			config.Object{
				Key: "keep", Help: "how many are kept: the newest of each of the last days, weeks and months that have one",
				Fields: []config.Field{
					config.Number{Key: "daily", To: &s.Keep.Daily, Min: 1, Max: 366, Help: "of how many days the newest is kept"},
					config.Number{Key: "weekly", To: &s.Keep.Weekly, Min: 0, Max: 520, Help: "of how many weeks the newest is kept"},
					config.Number{Key: "monthly", To: &s.Keep.Monthly, Min: 0, Max: 600, Help: "of how many months the newest is kept"},
				},
			},
		}
	},
}

func recipient(s string) (string, error) {
	s = strings.TrimSpace(s)
	return s, backup.CheckRecipient(s)
}

func interval(s string) (string, error) {
	s = strings.TrimSpace(s)
	if v, err := time.ParseDuration(s); s != "0" && (err != nil || v < time.Hour) {
		return "", errors.New("write how often like \"24h\", an hour at least; \"0\" makes them only when asked for")
	}
	return s, nil
}

// interval is how often a backup is made; 0: only when asked for.
func (s Settings) interval() time.Duration {
	v, err := time.ParseDuration(s.Every)
	if err != nil || v < time.Hour {
		return 0
	}
	return v
}
