// Package failover keeps a conversation answered when a model service fails:
// it makes the chain of candidates from what was selected and why, decides for
// each whether it is asked, probed or skipped, goes through the accounts of its
// service, repeats what is worth repeating, and tells the session what it
// should remember and show. A Run is a model.Provider, so that who asks a model
// needs to know nothing of all this.
//
// It owns no accounts and no cooldowns (gateway/provider/profile does, behind
// Accounts), knows no dialect, stores nothing and words nothing for people but
// the summary of a chain that is exhausted.
package failover

import (
	"context"
	"log/slog"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Target is a model that is ready to be asked.
type Target struct {
	Ref           model.Ref
	Provider      model.Provider
	ContextWindow int // tokens, 0 = unknown
	MaxTokens     int
	BuiltIn       bool   // the guide: every surface labels its words
	Tools         bool   // it can call tools
	Images        bool   // it takes pictures
	Local         bool   // on this computer: it may have to load first
	Found         string // how it was found, in words; "" when a person chose it
}

// Pinned is the account that a session keeps to.
type Pinned struct {
	ID   string
	User bool // the person chose it: no other account is used
}

// AccountState is one way into a service, as it stands for one model.
type AccountState struct {
	ID     string
	Until  time.Time // blocked until then for this model; zero = free
	Reason Reason    // why it is blocked
	Scoped bool      // only for this model
}

// FailedCall is what an account is told of a failed call.
type FailedCall struct {
	Class      model.Class
	RetryAfter time.Duration // as the service asked, 0 = not said
}

// Accounts knows the accounts of services and remembers what happened to them.
type Accounts interface {
	// Candidates are the accounts of a service in the order in which they are
	// tried, blocked ones last. None: the service needs no account.
	Candidates(provider, modelID string, pin Pinned) []AccountState
	Used(ctx context.Context, id string)
	Failed(ctx context.Context, id, modelID string, f FailedCall)
	Succeeded(ctx context.Context, id, modelID string)
}

// Settings may change between runs.
type Settings struct {
	Primary              model.Ref // the configured default; zero = the best that is found
	Fallbacks            []model.Ref
	OverloadedRotations  int           // accounts tried after an overloaded one, in one service
	OverloadedBackoff    time.Duration // before each of them
	RateLimitedRotations int
	MaxWait              time.Duration // the longest wait that a service may ask for; more fails over
}

// DefaultMaxWait is MaxWait where nothing is said, and MaxMaxWait the most that the
// environment can raise it to.
const (
	DefaultMaxWait = 10 * time.Second
	MaxMaxWait     = time.Minute
)

// Options build an Engine.
type Options struct {
	// Resolve makes a model ready, with the account of that id ("" = as the
	// service is configured). The zero Ref means the default.
	Resolve  func(ctx context.Context, ref model.Ref, account string) (Target, error)
	Accounts Accounts // nil: no service has accounts
	Settings func(session string) Settings
	Logger   *slog.Logger
	Now      func() time.Time
	Jitter   func() float64 // chance, from 0 to 1
}

// Engine starts runs. It is safe for concurrent use.
type Engine struct {
	o      Options
	probes probes
}

// New returns an engine.
func New(o Options) *Engine {
	if o.Accounts == nil {
		o.Accounts = noAccounts{}
	}
	if o.Settings == nil {
		o.Settings = func(string) Settings { return Settings{MaxWait: DefaultMaxWait} }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = func() float64 { return 0.5 }
	}
	return &Engine{o: o, probes: newProbes()}
}

// noAccounts: no service has any.
type noAccounts struct{}

func (noAccounts) Candidates(string, string, Pinned) []AccountState {
	return nil
}
func (noAccounts) Used(context.Context, string)                       {}
func (noAccounts) Failed(context.Context, string, string, FailedCall) {}
func (noAccounts) Succeeded(context.Context, string, string)          {}
