package approval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// MaxLife is the longest that a request may wait (A-EXEC-20).
	MaxLife = 10 * time.Minute
	// unattendedAfter is how long is waited for somebody who may decide.
	unattendedAfter = 30 * time.Second
	maxPending      = 3 // per session
	maxDenials      = 3 // per run, then nothing more is asked
	maxRuns         = 4096
)

// Security says what happens to commands at all.
type Security string

const (
	SecurityDeny      Security = "deny"      // nothing
	SecurityAllowlist Security = "allowlist" // what a rule or a person allows
)

// Mode says when a person is asked.
type Mode string

const (
	AskOff    Mode = "off"     // never: without a rule it is a no
	AskOnMiss Mode = "on-miss" // when no rule decides
	AskAlways Mode = "always"  // also when a rule would allow it
)

// Settings are what the owner chose. The zero value asks when no rule decides.
type Settings struct {
	Security Security
	Ask      Mode
	Life     time.Duration // 0 or more than MaxLife: MaxLife
}

// Options of a Broker.
type Options struct {
	DB       *store.DB
	Now      func() time.Time
	NewID    func() string
	Logger   *slog.Logger
	Settings func(Ask) Settings // nil: the zero value
	// Reachable reports whether somebody who may decide about the ask would hear
	// of it now. nil: nobody.
	Reachable func(Ask) bool
	// Requested and Resolved tell surfaces, and the audit log. They must not
	// block and must not call the broker. nil: nobody is told.
	Requested func(Record)
	Resolved  func(Record)
	// Used tells of what a rule allowed or forbade without a question.
	Used func(Ask, Rule)
	// Name is what people call an agent. nil: nobody has a name.
	Name func(agentID string) string
	// Epoch names this boot: requests of another one are over.
	Epoch string
}

// Grant is a yes.
type Grant struct {
	ID    string // of the request, or of the rule
	Scope Scope
	By    string
	Rule  bool // nobody was asked
	// Unconfined: it may run outside the sandbox, as it asked to.
	Unconfined bool
}

// Broker is safe for concurrent use.
type Broker struct {
	Options
	t     tables
	epoch string
	base  context.Context // of writes that outlive the call that caused them

	mu      sync.Mutex
	rules   *ruleSet
	waiting map[string]*request
	runs    map[string]*tally
}

// tally is what became of the requests of one run.
type tally struct {
	asked, denied int
	last          time.Time
}

// New returns a broker. What an earlier boot left pending has expired: a
// decision is for the run that waits for it, and that run is gone.
func New(ctx context.Context, o Options) (*Broker, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Broker{Options: o, t: newTables(), epoch: o.Epoch, base: context.WithoutCancel(ctx), rules: newRuleSet(nil),
		waiting: map[string]*request{}, runs: map[string]*tally{}}
	var left int
	err := o.DB.View(func(tx *store.Tx) error {
		left = b.t.pending.Count(tx) + b.t.rules.Count(tx)
		return nil
	})
	if err != nil || left == 0 {
		return b, err
	}
	err = o.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		rules, err := b.loadRules(tx, true)
		if err != nil {
			return err
		}
		b.rules = newRuleSet(rules)
		return b.expireLeft(tx)
	}})
	if err != nil {
		return nil, fmt.Errorf("take up the approvals of the last run: %w", err)
	}
	return b, nil
}

func (b *Broker) expireLeft(tx *store.Tx) error {
	var ids []string
	for k := range b.t.pending.ScanRaw(tx, store.Range{}) {
		ids = append(ids, string(k))
	}
	for _, id := range ids {
		_, err := b.t.end(tx, id, func(r *Record) error {
			r.State, r.Reason, r.DecidedAt = StateExpired, "Hearth was restarted before anybody decided", b.Now().UnixMilli()
			return nil
		})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// Permit returns a grant when a rule allows the ask or a person does, and waits
// for that person. Every error means no.
func (b *Broker) Permit(ctx context.Context, a Ask) (Grant, error) {
	if err := a.check(); err != nil {
		return Grant{}, err
	}
	set := b.settings(a)
	if set.Security == SecurityDeny {
		return Grant{}, &DeniedError{Reason: "the settings forbid it", Title: a.Title}
	}
	rule := b.match(&a)
	if rule != nil && (rule.Scope == ScopeNever || set.Ask != AskAlways) {
		if b.Used != nil {
			b.Used(a, *rule)
		}
		if rule.Scope == ScopeNever {
			return Grant{}, &DeniedError{Reason: "the owner said never", Title: a.Title}
		}
		return Grant{ID: rule.ID, Scope: rule.Scope, By: rule.By, Rule: true, Unconfined: a.Unconfined}, nil
	}
	if set.Ask == AskOff {
		return Grant{}, &DeniedError{Reason: "no rule allows it and the settings say not to ask", Title: a.Title}
	}
	r, err := b.open(ctx, a, "", set)
	if err != nil {
		return Grant{}, err
	}
	rec, first, err := b.wait(ctx, r)
	if err != nil {
		return Grant{}, err
	}
	return b.grant(rec, first)
}

// grant says what a decision means for one of those who waited for it.
func (b *Broker) grant(rec Record, first bool) (Grant, error) {
	switch rec.State {
	case StateAllowed:
		if rec.Scope == ScopeOnce && !first {
			return Grant{}, ErrUsed
		}
		return Grant{ID: rec.ID, Scope: rec.Scope, By: rec.By, Unconfined: rec.Ask.Unconfined}, nil
	case StateDenied:
		if rec.By == "" {
			return Grant{}, ErrUnattended
		}
		return Grant{}, &DeniedError{Reason: "the owner said no", Title: rec.Ask.Title}
	case StateWithdrawn:
		return Grant{}, ErrWithdrawn
	}
	return Grant{}, ErrExpired
}

func (b *Broker) settings(a Ask) (s Settings) {
	if b.Settings != nil {
		s = b.Settings(a)
	}
	if s.Security == "" {
		s.Security = SecurityAllowlist
	}
	if s.Ask == "" {
		s.Ask = AskOnMiss
	}
	if s.Life <= 0 || s.Life > MaxLife {
		s.Life = MaxLife
	}
	return s
}

// Decider is who decides about a request. It is for package gateway to make
// sure that they may: a device with the scope for it, or an owner by their
// listed id.
type Decider struct {
	Name string // for people: "Safari on this Mac", "network:42"
	ID   string // of the device or connection; never the requester's
	// Message: they read the question as a message of a network, and answer so.
	Message bool
	// Settings: they may change settings as well.
	Settings bool
}

// Resolve decides about a pending request. The first answer wins; the decision,
// the rule it makes and the end of the request are one transaction, and only
// then does whoever waits hear of it. So after a crash it is either pending
// (and expires) or decided by somebody and used up.
func (b *Broker) Resolve(ctx context.Context, id string, scope Scope, by Decider) (Record, error) {
	if by.Name == "" {
		return Record{}, fmt.Errorf("%w: nobody is named who decides", ErrMalformed)
	}
	failpoint.Hit("beforeApproval")
	var rec Record
	err := b.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) (err error) {
		rec, err = b.t.end(tx, id, func(r *Record) error { return b.decide(tx, r, scope, by) })
		return err
	}})
	if err != nil {
		return rec, err
	}
	failpoint.Hit("afterApproval")
	if rec.RuleID != "" {
		if err := b.refresh(); err != nil {
			b.Logger.Error("a new rule is not used before the next start", "err", err)
		}
	}
	b.finish(rec)
	return rec, nil
}

// decide changes a pending record to what was decided.
func (b *Broker) decide(tx *store.Tx, r *Record, scope Scope, by Decider) error {
	now := b.Now().UnixMilli()
	switch {
	case r.Epoch != b.epoch || now >= r.ExpiresAt:
		return ErrResolved
	case r.Requester != "" && r.Requester == by.ID && scope.Allows():
		return ErrNotYours
	}
	if !r.offers(scope) {
		return ErrScope
	}
	r.State, r.Scope, r.By, r.DecidedAt = StateDenied, scope, by.Name, now
	if scope.Allows() {
		r.State = StateAllowed
	}
	if rule, ok := b.ruleOf(r.Ask, scope, by.Name); ok {
		r.RuleID = rule.ID
		return b.putRule(tx, rule)
	}
	return nil
}

func (r *Record) offers(scope Scope) bool {
	for _, s := range r.Ask.Scopes() {
		if s == scope {
			return true
		}
	}
	return false
}
