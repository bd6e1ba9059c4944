package config

import (
	"math"
	"strconv"
	"strings"
)

const (
	maxHours     = 24 * 366
	maxRotations = 100
	maxBackoffMs = 60_000
)

// accounts reads "auth": accounts at model services, without their secrets.
func (d *decoder) accounts(n *node, a *Accounts) {
	d.object(n,
		field{"profiles", func(n *node) {
			a.Profiles = make(map[string]Account, len(n.items))
			d.each(n, func(id string, at int, v *node) {
				if p, ok := d.modelAccount(id, at, v); ok {
					a.Profiles[id] = p
				}
			})
		}},
		field{"order", func(n *node) {
			a.Order = make(map[string][]string, len(n.items))
			d.each(n, func(provider string, _ int, v *node) {
				d.list(v, func(v *node) {
					id := strings.TrimSpace(d.filled(v, 190))
					if id != "" && !accountID(id) {
						d.issue(v.start, "an account is named \"provider:name\", for example \"anthropic:work\"")
						return
					}
					a.Order[provider] = append(a.Order[provider], id)
				})
			})
		}},
		field{"cooldowns", func(n *node) { d.cooldowns(n, &a.Cooldowns) }})
}

func (d *decoder) modelAccount(id string, at int, n *node) (p Account, ok bool) {
	if !accountID(id) {
		d.issue(at, "an account is named \"provider:name\", for example \"anthropic:work\"")
		return p, false
	}
	before := len(d.issues)
	d.object(n,
		field{"provider", func(n *node) { p.Provider = d.filled(n, 64) }},
		field{"mode", func(n *node) { p.Mode = d.choice(n, "api_key", "oauth", "token") }},
		field{"email", func(n *node) { p.Email = d.text(n, 256) }})
	if len(d.issues) > before {
		return p, false
	}
	provider, _, _ := strings.Cut(id, ":")
	if p.Provider == "" {
		p.Provider = provider
	}
	switch {
	case p.Provider != provider:
		d.issue(n.start, "the account's name begins with another provider than the one it is of")
		return p, false
	case p.Mode == "":
		d.issue(n.start, "an account needs a mode: api_key, oauth or token")
		return p, false
	}
	return p, true
}

// accountID tells "provider:name".
func accountID(s string) bool {
	provider, name, ok := strings.Cut(s, ":")
	return ok && providerID(provider) && name != "" && len(s) <= 190 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-:@+", r)
	})
}

func (d *decoder) cooldowns(n *node, c *Cooldowns) {
	d.object(n,
		field{"billingBackoffHours", func(n *node) { c.BillingBackoffHours = d.hours(n) }},
		field{"billingBackoffHoursByProvider", func(n *node) {
			c.BillingBackoffHoursByProvider = make(map[string]float64, len(n.items))
			d.each(n, func(id string, _ int, v *node) { c.BillingBackoffHoursByProvider[id] = d.hours(v) })
		}},
		field{"billingMaxHours", func(n *node) { c.BillingMaxHours = d.hours(n) }},
		field{"failureWindowHours", func(n *node) { c.FailureWindowHours = d.hours(n) }},
		field{"overloadedProfileRotations", func(n *node) { c.OverloadedProfileRotations = d.integer(n, 0, maxRotations) }},
		field{"overloadedBackoffMs", func(n *node) { c.OverloadedBackoffMs = d.integer(n, 0, maxBackoffMs) }},
		field{"rateLimitedProfileRotations", func(n *node) { c.RateLimitedProfileRotations = d.integer(n, 0, maxRotations) }})
}

// hours may have a fraction.
func (d *decoder) hours(n *node) float64 { return d.number(n, 0, maxHours) }

// number is greater than lo, and hi at most.
func (d *decoder) number(n *node, lo, hi float64) float64 {
	if n.kind != kindNumber {
		d.wrongKind(n, "a number")
		return 0
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || math.IsNaN(f) || f <= lo || f > hi {
		d.issue(n.start, "expected a number greater than %v, %v at most", lo, hi)
		return 0
	}
	return f
}
