package release

import (
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// Settings are which releases are wanted and how often it is looked.
type Settings struct {
	Channel string
	Every   string // as "24h"; "0": only when asked for
	Source  string // "": the build's
	Key     string // of a build that has none
}

// Section are the settings of updates.
var Section = &config.Settings[Settings]{
	Path:    "update",
	Default: Settings{Channel: "stable", Every: "24h"},
	Fields: func(s *Settings) []config.Field {
		return []config.Field{
			config.Choice{
				Key: "channel", To: &s.Channel, Among: Channels(),
				Help: "which releases: `stable`, or `beta` for those that are still tried out",
			},
			config.Text{
				Key: "every", To: &s.Every, Max: 32, Is: interval,
				Help: "how often it is looked whether there is a new version, an hour at least; `\"0\"`: only when asked for. Nothing is " +
					"installed by itself, and where a package manager owns the programs it is not looked",
			},
			config.Text{
				Key: "source", To: &s.Source, Max: 1024, Is: source, Hint: config.Hint{Default: "the build's", Advanced: true},
				Help: "where releases are published, as a copy of the source nearby; what is there must be signed by the same keys",
			},
			config.Text{
				Key: "key", To: &s.Key, Max: 1024, Is: key, Hint: config.Hint{Default: "none", Advanced: true},
				Help: "the root key of releases, for a build that has none of its own; a key that was built in is never replaced",
			},
			config.Later("checkOnStart", "auto"),
		}
	},
}

func interval(s string) (string, error) {
	s = strings.TrimSpace(s)
	if v, err := time.ParseDuration(s); s != "0" && (err != nil || v < time.Hour) {
		return "", errors.New("write how often like \"24h\", an hour at least; \"0\" looks only when asked for")
	}
	return s, nil
}

func source(s string) (string, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return s, nil
	}
	_, err := NewSource(s)
	return s, err
}

func key(s string) (string, error) {
	s = strings.TrimSpace(s)
	_, err := ParseAnchor(s)
	return s, err
}

// Interval is how often it is looked; 0: only when asked for.
func (s Settings) Interval() time.Duration {
	v, err := time.ParseDuration(s.Every)
	if err != nil || v < time.Hour {
		return 0
	}
	return v
}
