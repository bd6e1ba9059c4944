// Package turn finds the model that answers a turn of a session: the one that
// was chosen or is its agent's own, within the allowance, with the account whose
// turn it is and behind the guard; and, when it fails, the next one. It also
// says when a turn has to wait, books what it cost, and words what went wrong.
//
// It does not run the turn (package session) and speaks no dialect (package
// provider). Which models there are, who may choose which, whose turn an account
// is and what may be spent are the packages' that it is made from.
package turn

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/hearth-assistant/hearth/internal/random"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/accounts"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/guarded"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// envMaxWait is how many seconds a service may ask to wait before another model
// is asked instead.
const envMaxWait = "HEARTH_RETRY_MAX_WAIT_SECONDS"

// Options are the parts that Models need; all of them.
type Options struct {
	Settings *config.File
	Models   *provider.Registry
	Choice   *choice.Chooser
	Agents   *agents.Directory
	Accounts *accounts.Accounts
	Guard    *guarded.Guard
	Secrets  *lookup.Secrets
	Env      func(string) string
	Now      func() time.Time
	Logger   *slog.Logger
}

// Models answers turns. Its methods may be called from several goroutines.
type Models struct {
	o        Options
	failover *failover.Engine
}

// New returns the models of turns.
func New(o Options) *Models {
	m := &Models{o: o}
	m.failover = failover.New(failover.Options{
		Resolve: m.resolve, Accounts: accounts.Turns{Accounts: o.Accounts}, Settings: m.settings, Logger: o.Logger, Now: o.Now,
		Jitter: random.Float,
	})
	return m
}

func (m *Models) budget() *budget.Budget { return m.o.Guard.Budget }

// Failover asks a model outside of a session's turn.
func (m *Models) Failover() *failover.Engine { return m.failover }

// resolve makes a model ready, with one account of its service.
func (m *Models) resolve(ctx context.Context, ref model.Ref, account string) (failover.Target, error) {
	c, err := m.o.Models.ResolveAs(ctx, ref, account)
	if err != nil {
		return failover.Target{}, err
	}
	return failover.Target{
		Ref: c.Ref, Provider: m.o.Guard.Provider(c.Provider, c.Ref), ContextWindow: c.ContextWindow, BuiltIn: c.BuiltIn,
		Tools: c.Tools, Images: c.Images, Local: c.Local, Found: choice.Found(c.Source),
		MaxTokens: choice.Section.Of(m.o.Settings.Snapshot().Config).MaxTokens,
	}, nil
}

func (m *Models) settings(sessionKey string) failover.Settings {
	c := m.o.Settings.Snapshot().Config
	a := m.o.Agents.OfSession(sessionKey)
	rest := accounts.Section.Of(c)
	s := failover.Settings{
		OverloadedRotations:  rest.OverloadedRotations,
		OverloadedBackoff:    time.Duration(rest.OverloadedBackoffMs) * time.Millisecond,
		RateLimitedRotations: rest.RateLimitedRotations, MaxWait: m.maxWait(),
	}
	first := choice.Section.Of(c).Model
	if p := cmp.Or(a.Primary, first.Primary); p != "" {
		s.Primary = m.o.Models.Named(p)
	}
	fallbacks := first.Fallbacks
	if a.Primary != "" {
		fallbacks = a.Fallbacks
	}
	for _, name := range fallbacks {
		s.Fallbacks = append(s.Fallbacks, m.o.Models.Named(name))
	}
	return s
}

func (m *Models) maxWait() time.Duration {
	n, err := strconv.Atoi(m.o.Env(envMaxWait))
	if err != nil || n < 0 {
		return failover.DefaultMaxWait
	}
	return min(time.Duration(n)*time.Second, failover.MaxMaxWait)
}

// Begin finds the model of a turn within the allowance.
func (m *Models) Begin(ctx context.Context, sel failover.Selection, s failover.Session) (session.Model, error) {
	m.o.Secrets.Await(ctx)
	sel, err := m.budget().Choose(ctx, m.o.Choice.OfAgent(sel), s)
	if err != nil {
		return session.Model{}, err
	}
	t, err := m.failover.Begin(ctx, sel, s)
	if err != nil {
		return t, err
	}
	t.Provider = budget.PaidBy(s, t.Provider)
	return t, nil
}

// Book writes down what was asked for a session, answered or not; what nobody was asked is
// no call.
func (m *Models) Book(tx *store.Tx, sessionKey string, attempts []failover.Attempt) error {
	var calls []spend.Call
	for _, a := range attempts {
		if a.Skipped || a.Nobody {
			continue
		}
		calls = append(calls, spend.Call{
			At: a.At, Model: a.Ref, Account: a.Account, Session: sessionKey, Agent: session.AgentOf(sessionKey), Usage: a.Usage,
			Failed: a.Reason != "",
		})
	}
	return m.budget().Book(tx, calls...)
}

// Cost is what a call cost, in units of the currency.
func (m *Models) Cost(a failover.Attempt) float64 {
	return m.budget().Ledger.Cost(spend.Call{At: a.At, Model: a.Ref, Account: a.Account, Usage: a.Usage}).Units()
}

// Explain words failures of turns.
func (m *Models) Explain(err error, ref model.Ref) (message, kind string) {
	var used *budget.UsedUpError
	if errors.As(err, &used) {
		return used.Error(), provider.KindUnknown
	}
	return provider.Explain(err, ref)
}

// RetryAt is when a service that failed may be asked again, zero when nobody knows.
func (m *Models) RetryAt(err error) time.Time {
	var all *failover.SummaryError
	var one *model.Error
	switch {
	case errors.As(err, &all) && !all.Soonest.IsZero():
		return all.Soonest
	case errors.As(err, &one) && one.RetryAfter > 0:
		return m.o.Now().Add(one.RetryAfter)
	}
	return time.Time{}
}

// Repair is what can be done about a failure.
func (m *Models) Repair(err error) protocol.Repair {
	var used *budget.UsedUpError
	var paused *pause.Error
	switch {
	case errors.As(err, &used):
		return protocol.RepairAllowance
	case errors.As(err, &paused):
		return protocol.RepairResume
	}
	return repairOf(err)
}

// Words says to a person why a model could not be asked.
func (m *Models) Words(err error, ref model.Ref) string {
	var paused *pause.Error
	if errors.As(err, &paused) {
		return protocol.Sentence(paused.Error())
	}
	message, _ := m.Explain(err, ref)
	return message
}
