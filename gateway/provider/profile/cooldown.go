package profile

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Cooldowns say how long an account rests after a failure. Zero values mean the
// defaults.
type Cooldowns struct {
	BillingBackoff   time.Duration            // 5 h, doubled each time
	BillingBackoffBy map[string]time.Duration // by provider
	BillingMax       time.Duration            // 24 h
	FailureWindow    time.Duration            // 24 h without a failure: counted anew
}

const (
	defaultBillingBackoff = 5 * time.Hour
	defaultBillingMax     = 24 * time.Hour
	defaultFailureWindow  = 24 * time.Hour
	maxCooldown           = time.Hour
	// maxReset bounds what a service may say about its own limit: a month and a
	// little, the longest period of a plan.
	maxReset = 32 * 24 * time.Hour
)

// step is the n-th cooldown: 1 min, 5 min, 25 min, and 1 h from then on.
func step(n int) time.Duration {
	d := time.Minute
	for range n - 1 {
		if d *= 5; d >= maxCooldown {
			return maxCooldown
		}
	}
	return d
}

func (c Cooldowns) billing(provider string, n int) time.Duration {
	d := defaultBillingBackoff
	if c.BillingBackoff > 0 {
		d = c.BillingBackoff
	}
	if by := c.BillingBackoffBy[provider]; by > 0 {
		d = by
	}
	most := defaultBillingMax
	if c.BillingMax > 0 {
		most = c.BillingMax
	}
	for range n - 1 {
		if d *= 2; d >= most {
			break
		}
	}
	return min(d, most)
}

func (c Cooldowns) window() time.Duration {
	if c.FailureWindow > 0 {
		return c.FailureWindow
	}
	return defaultFailureWindow
}

// Block is one reason to leave an account, or one model of it, alone.
type Block struct {
	Until  time.Time   `json:"until"`
	Last   time.Time   `json:"last"` // the last failure
	Count  int         `json:"count"`
	Reason model.Class `json:"reason"`
}

// Stats is how an account has done. Cooldowns are kept by model, so that a
// second limited model does not make the first one forgotten; "" is the whole
// account.
type Stats struct {
	LastUsed  time.Time        `json:"lastUsed,omitzero"`
	Cooldowns map[string]Block `json:"cooldowns,omitempty"`
	Disabled  *Block           `json:"disabled,omitempty"`
}

func (s Stats) clone() Stats {
	s.Cooldowns = maps.Clone(s.Cooldowns)
	if s.Disabled != nil {
		s.Disabled = new(*s.Disabled)
	}
	return s
}

// Failure is what went wrong with a call.
type Failure struct {
	Class      model.Class
	RetryAfter time.Duration // as the service asked; 0: it did not
	ResetAt    time.Time     // when a limit ends, to the moment; zero: not said
	Permanent  bool          // the key is revoked or the account closed
}

// cools reports whether a failure says something about the account. A wrong
// question or a broken line would be the same with every account.
func cools(c model.Class) bool {
	switch c {
	case model.ClassAuth, model.ClassRateLimit, model.ClassOverloaded, model.ClassTimeout, model.ClassServer:
		return true
	}
	return false
}

// Use says that a call goes out with an account now.
func (b *Book) Use(ctx context.Context, id string) {
	b.change(ctx, id, func(r *row, now time.Time) bool {
		r.Stats.LastUsed = now
		return true
	})
}

// Succeed ends what stood against an account and the model that answered. Other
// models of it keep their limits.
func (b *Book) Succeed(ctx context.Context, id, model string) {
	b.change(ctx, id, func(r *row, _ time.Time) bool {
		_, limited := r.Stats.Cooldowns[model]
		_, cooling := r.Stats.Cooldowns[""]
		delete(r.Stats.Cooldowns, model)
		delete(r.Stats.Cooldowns, "")
		had := limited || cooling || r.Stats.Disabled != nil
		r.Stats.Disabled = nil
		return had
	})
}

// Fail puts an account into a cooldown, or disables it for longer when there is
// no credit. Failures of calls that were under way when a cooldown began do not
// make it longer; a time that the service names does.
func (b *Book) Fail(ctx context.Context, id, modelID string, f Failure) {
	b.change(ctx, id, func(r *row, now time.Time) bool {
		rules := b.settings.Cooldowns
		if f.Class == model.ClassBilling || f.Permanent {
			old := Block{}
			if r.Stats.Disabled != nil {
				old = *r.Stats.Disabled
			}
			next := f.extend(old, now, rules.window(), func(n int) time.Duration { return rules.billing(r.Provider, n) })
			r.Stats.Disabled = &next
			return next != old
		}
		if !cools(f.Class) {
			return false
		}
		scope := ""
		if f.Class == model.ClassRateLimit {
			scope = modelID
		}
		old := r.Stats.Cooldowns[scope]
		next := f.extend(old, now, rules.window(), step)
		if r.Stats.Cooldowns == nil {
			r.Stats.Cooldowns = map[string]Block{}
		}
		r.Stats.Cooldowns[scope] = next
		return next != old
	})
}

// extend is the block after one more failure.
func (f Failure) extend(old Block, now time.Time, window time.Duration, backoff func(n int) time.Duration) Block {
	next := old
	if now.Before(old.Until) {
		next.Until = later(old.Until, f.said(now))
		return next
	}
	if now.Sub(old.Until) >= window { // not since the failure: a day's block would end its own count
		next.Count = 0
	}
	next.Count++
	next.Last, next.Reason = now, f.Class
	if at := f.exact(now); !at.IsZero() {
		next.Until = at
		return next
	}
	next.Until = later(now.Add(backoff(next.Count)), f.said(now))
	return next
}

// exact is the moment at which the service says that its limit ends.
func (f Failure) exact(now time.Time) time.Time {
	if !f.ResetAt.After(now) {
		return time.Time{}
	}
	if most := now.Add(maxReset); f.ResetAt.After(most) {
		return most
	}
	return f.ResetAt
}

// said is the earliest moment that the service asks to wait for.
func (f Failure) said(now time.Time) time.Time {
	if at := f.exact(now); !at.IsZero() {
		return at
	}
	return now.Add(max(0, min(f.RetryAfter, maxReset)))
}

func later(x, y time.Time) time.Time {
	if y.After(x) {
		return y
	}
	return x
}

// change edits an account and remembers it.
func (b *Book) change(ctx context.Context, id string, edit func(r *row, now time.Time) bool) {
	b.mu.Lock()
	r := b.rows[id]
	if r == nil || !edit(r, b.now()) {
		b.mu.Unlock()
		return
	}
	rec := r.Record.clone()
	b.mu.Unlock()
	b.touch(context.WithoutCancel(ctx), rec)
}

// candidate is the account as seen by a call to a model: the block that lasts
// longest is what counts.
func (r *row) candidate(modelID string, now time.Time) Candidate {
	c := Candidate{ID: r.ID, Type: r.Type}
	if d := r.Stats.Disabled; d != nil && d.Until.After(now) {
		c.Until, c.Reason, c.Scope, c.Disabled = d.Until, d.Reason, ScopeProfile, true
		return c
	}
	if k, ok := r.Stats.Cooldowns[""]; ok && k.Until.After(now) {
		c.Until, c.Reason, c.Scope = k.Until, k.Reason, ScopeProfile
	}
	if k, ok := r.Stats.Cooldowns[modelID]; ok && modelID != "" && k.Until.After(now) && k.Until.After(c.Until) {
		c.Until, c.Reason, c.Scope = k.Until, k.Reason, ScopeModel
	}
	return c
}

// usageStats are the names of the reference page.
type usageStats struct {
	LastUsed       int64  `json:"lastUsed,omitempty"`
	CooldownUntil  int64  `json:"cooldownUntil,omitempty"`
	CooldownModel  string `json:"cooldownModel,omitempty"`
	CooldownReason string `json:"cooldownReason,omitempty"`
	ErrorCount     int    `json:"errorCount,omitempty"`
	DisabledUntil  int64  `json:"disabledUntil,omitempty"`
	DisabledReason string `json:"disabledReason,omitempty"`
}

// UsageStats gives the stats the form of the reference page, with the cooldown
// that lasts longest.
func (s Stats) UsageStats(now time.Time) (json.RawMessage, error) {
	u := usageStats{LastUsed: ms(s.LastUsed)}
	var until time.Time
	for id, k := range s.Cooldowns {
		u.ErrorCount = max(u.ErrorCount, k.Count)
		if k.Until.After(now) && (k.Until.After(until) || k.Until.Equal(until) && id < u.CooldownModel) {
			until = k.Until
			u.CooldownUntil, u.CooldownModel, u.CooldownReason = ms(k.Until), id, string(k.Reason)
		}
	}
	if d := s.Disabled; d != nil {
		u.ErrorCount = max(u.ErrorCount, d.Count)
		if d.Until.After(now) {
			u.DisabledUntil, u.DisabledReason = ms(d.Until), string(d.Reason)
		}
	}
	return json.Marshal(u)
}

func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
