package config

import (
	"maps"
	"slices"
	"time"
)

// Accounts says which accounts at model services are used when. It holds no
// secrets.
type Accounts struct {
	Profiles  map[string]Account  `json:"profiles,omitempty"` // by "provider:name"
	Order     map[string][]string `json:"order,omitempty"`    // by provider
	Cooldowns Cooldowns           `json:"cooldowns"`
}

// Account is one account at a service.
type Account struct {
	Provider string `json:"provider"`
	Mode     string `json:"mode"` // api_key, oauth, token
	Email    string `json:"email,omitempty"`
}

// Cooldowns say how long an account rests, and how many others are tried.
type Cooldowns struct {
	BillingBackoffHours           float64            `json:"billingBackoffHours"`
	BillingBackoffHoursByProvider map[string]float64 `json:"billingBackoffHoursByProvider,omitempty"`
	BillingMaxHours               float64            `json:"billingMaxHours"`
	FailureWindowHours            float64            `json:"failureWindowHours"`
	OverloadedProfileRotations    int                `json:"overloadedProfileRotations"`
	OverloadedBackoffMs           int                `json:"overloadedBackoffMs"`
	RateLimitedProfileRotations   int                `json:"rateLimitedProfileRotations"`
}

func defaultAccounts() Accounts {
	return Accounts{Cooldowns: Cooldowns{
		BillingBackoffHours: 5, BillingMaxHours: 24, FailureWindowHours: 24,
		OverloadedProfileRotations: 1, RateLimitedProfileRotations: 1,
	}}
}

func (a Accounts) clone() Accounts {
	a.Profiles = maps.Clone(a.Profiles)
	a.Order = maps.Clone(a.Order)
	for id, list := range a.Order {
		a.Order[id] = slices.Clone(list)
	}
	a.Cooldowns.BillingBackoffHoursByProvider = maps.Clone(a.Cooldowns.BillingBackoffHoursByProvider)
	return a
}

// Hours is a time that the file counts in hours.
func Hours(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }
