package accounts

import (
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/provider/profile"
)

// Rotation says which accounts at model services are used when. It holds no
// secrets.
type Rotation struct {
	Profiles map[string]profile.Profile // by "provider:name"
	Order    map[string][]string        // by provider

	// How long an account rests, and how many others are tried.
	BillingBackoffHours           float64
	BillingBackoffHoursByProvider map[string]float64
	BillingMaxHours               float64
	FailureWindowHours            float64
	OverloadedRotations           int
	OverloadedBackoffMs           int
	RateLimitedRotations          int
}

const (
	maxHours     = 24 * 366
	maxRotations = 100
	maxBackoffMs = 60_000
)

// Section are the settings of accounts.
var Section = &config.Settings[Rotation]{
	Path: "auth",
	Default: Rotation{
		BillingBackoffHours: 5, BillingMaxHours: 24, FailureWindowHours: 24, OverloadedRotations: 1, RateLimitedRotations: 1,
	},
	Fields: func(c *Rotation) []config.Field {
		return []config.Field{
			config.Map[profile.Profile]{
				Key: "profiles", To: &c.Profiles, Name: "<id>", Is: accountID, New: newProfile,
				One: func(id string, p *profile.Profile) config.Field { return profileField(id, p) },
			},
			config.Map[[]string]{
				Key: "order", To: &c.Order, Name: "<provider>",
				One: func(_ string, ids *[]string) config.Field {
					return config.Texts{
						To: ids, Max: 190, Unset: true, Is: trimmedID, Hint: config.Hint{Default: "taking turns"},
						Help: "accounts in the order to use them, for example `[\"anthropic:me@example.com\", \"anthropic:backup\"]`. Without it they " +
							"take turns: logins before tokens before keys, the one that rested longest first",
					}
				},
			},
			config.Object{Key: "cooldowns", Fields: c.cooldowns()},
		}
	},
}

func newProfile(id string) profile.Profile {
	provider, _, _ := strings.Cut(id, ":")
	return profile.Profile{ID: id, Provider: provider}
}

func profileField(id string, p *profile.Profile) config.Field {
	return config.Object{
		Help: "`{ provider, mode, email? }` with a `mode` of `api_key`, `oauth` or `token`. When a provider has some here, only those are used",
		Hint: config.Hint{Default: "all that are stored"},
		Fields: []config.Field{
			config.Text{Key: "provider", To: &p.Provider, Max: 64},
			config.Choice{
				Key: "mode", To: (*string)(&p.Type), Among: []string{string(profile.APIKey), string(profile.OAuth), string(profile.Token)},
			},
			config.Text{Key: "email", To: &p.Email, Max: 256, Empty: true},
		},
		Check: func() error {
			switch provider, _, _ := strings.Cut(id, ":"); {
			case p.Provider != provider:
				return errors.New("the account's name begins with another provider than the one it is of")
			case p.Type == "":
				return errors.New("an account needs a mode: api_key, oauth or token")
			}
			return nil
		},
	}
}

// accountID says what is wrong with the name of an account.
func accountID(s string) error {
	provider, name, ok := strings.Cut(s, ":")
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-:@+", r)
	}
	if !ok || !config.ProviderName(provider) || name == "" || len(s) > 190 || strings.ContainsFunc(s, odd) {
		return errors.New("an account is named \"provider:name\", for example \"anthropic:work\"")
	}
	return nil
}

func trimmedID(s string) (string, error) {
	s = strings.TrimSpace(s)
	return s, accountID(s)
}

func (c *Rotation) cooldowns() []config.Field {
	hours := func(key string, to *float64, help string) config.Field {
		return config.Amount{Key: key, To: to, Max: maxHours, Above: true, Help: help}
	}
	return []config.Field{
		hours("billingBackoffHours", &c.BillingBackoffHours, "how long an account without credit is left alone; twice as long each time"),
		config.Map[float64]{
			Key: "billingBackoffHoursByProvider", To: &c.BillingBackoffHoursByProvider, Name: "<provider>",
			One: func(_ string, to *float64) config.Field {
				return config.Amount{To: to, Max: maxHours, Above: true, Help: "the same for one provider", Hint: config.Hint{Default: "-"}}
			},
		},
		hours("billingMaxHours", &c.BillingMaxHours, "the longest of these times"),
		hours("failureWindowHours", &c.FailureWindowHours, "after so many hours without a failure they are counted anew"),
		config.Number{
			Key: "overloadedProfileRotations", To: &c.OverloadedRotations, Max: maxRotations,
			Help: "how many other accounts are tried when a service is overloaded, before another model is",
		},
		config.Number{Key: "overloadedBackoffMs", To: &c.OverloadedBackoffMs, Max: maxBackoffMs, Help: "how long to wait before each of these"},
		config.Number{
			Key: "rateLimitedProfileRotations", To: &c.RateLimitedRotations, Max: maxRotations,
			Help: "how many other accounts are tried when a limit is reached",
		},
	}
}

// hours is a time that the file counts in hours.
func hours(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }
