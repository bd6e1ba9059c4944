// Package modelcheck tries models out: it asks one a few questions, the way
// conversations do but with no other model in its place, and remembers what was
// found. It owns the questions' order, what is kept of the answers, and the line
// in which a person reads them. The questions themselves are in provider/probe.
package modelcheck

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/probe"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// helloTime is how long the first answer may take: a model on this computer
	// may have to be loaded.
	helloTime  = 3 * time.Minute
	toolsTime  = time.Minute
	windowTime = time.Minute
	// GoodWindow is what a conversation with tools needs, in tokens.
	GoodWindow = 16_000
)

// Models are those that can be tried.
type Models interface {
	Resolve(ctx context.Context, ref model.Ref) (provider.Choice, error)
	TestOf(ref model.Ref) (provider.Tested, bool)
	Learn(found map[model.Ref]provider.Tested)
	Address(service string) string
	ServerVersion(ctx context.Context, service string) string
}

// Options of Checks.
type Options struct {
	DB     *store.DB
	Models Models
	Begin  func(ctx context.Context, sel failover.Selection, s failover.Session) (failover.Target, error)
	// May reports why a model may not be asked now.
	May  func(model.Ref) error
	Free func(model.Ref) bool // it costs nothing
	Book func(ctx context.Context, c spend.Call) error
	// Words says to a person why it failed.
	Words          func(err error, ref model.Ref) string
	Session, Agent string          // under which calls are booked
	Draw           func(n int) int // a number from 0 to n-1
	Now            func() time.Time
	Logger         *slog.Logger
}

// Checks are what was found out about models, one row each.
type Checks struct {
	Options
	rows store.SmallTable[row]

	mu  sync.Mutex // guards all, and keeps trials from each other
	all map[model.Ref]provider.Tested
}

type row struct {
	Ref model.Ref
	provider.Tested
}

// Open reads what is known and tells the models.
func Open(ctx context.Context, o Options) (*Checks, error) {
	t := &Checks{
		Options: o, all: map[model.Ref]provider.Tested{},
		rows: store.NewSmallTable(o.DB, "model-tests", func(r row) string { return r.Ref.String() }),
	}
	rows, err := t.rows.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what is known of models: %w", err)
	}
	for _, r := range rows {
		t.all[r.Ref] = r.Tested
	}
	t.Models.Learn(t.all)
	return t, nil
}

// Ask is what shall be tried.
type Ask struct {
	Ref     model.Ref
	Account string // "" for the one whose turn it is
	Window  bool   // find out how much of a long text reaches it
}

// Result is how it went.
type Result struct {
	Ref   model.Ref
	OK    bool
	Line  string // for people: "answered in 1.2 s · 32K context verified · tools work"
	Notes []string
	Took  time.Duration
	Error string // for people
	Why   failover.Reason

	Claimed, Trained int             // context windows, in tokens
	Found            provider.Tested // zero when nothing was found out
}

// check is one of them, and the session of its calls.
type check struct {
	*Checks
	ask     Ask
	target  failover.Target
	prober  probe.Prober
	choice  provider.Choice
	started time.Time
	account string
	ref     model.Ref
	old     provider.Tested // by an earlier check of the same server
	res     Result
	found   provider.Tested
}

func (*check) Persist(context.Context, failover.Override) error { return nil }
func (*check) Rollback(context.Context, failover.Override)      {}
func (*check) Asking(failover.Target)                           {}
func (*check) Switched() (failover.Selection, bool)             { return failover.Selection{}, false }
func (*check) Noted(context.Context, failover.Attempt)          {}
func (*check) Waiting(time.Duration, failover.Reason)           {}
func (t *check) Landed(_ context.Context, l failover.Landing)   { t.account = l.Account }

// Try asks a model. What it costs is booked.
func (all *Checks) Try(ctx context.Context, ask Ask) Result {
	t := &check{Checks: all, ask: ask, ref: ask.Ref, started: all.Now(), res: Result{Ref: ask.Ref, Notes: []string{}}}
	if err := t.begin(ctx); err != nil {
		return t.failed(err)
	}
	if t.target.BuiltIn {
		t.res.Line = "The built-in guide answers. It is no AI model."
		t.res.Error = "No model is connected. Get one onto this computer with `hearth models pull qwen3:8b`, log in with `hearth models auth " +
			"login`, or add a key with `hearth models auth add`."
		return t.res
	}
	if err := t.questions(ctx); err != nil {
		return t.failed(err)
	}
	t.learn(ctx)
	t.words()
	return t.res
}

func (t *check) begin(ctx context.Context) (err error) {
	if err := t.May(t.ref); err != nil {
		return err
	}
	if t.choice, err = t.Models.Resolve(ctx, t.ref); err != nil {
		return err
	}
	t.ref = t.choice.Ref
	if old, ok := t.Models.TestOf(t.ref); ok { // it is not taken for granted this time
		t.old = old
		again := provider.Tested{Address: old.Address, Version: old.Version, At: old.At}
		if !t.ask.Window {
			again.Window, again.Limit = old.Window, old.Limit
		}
		t.known(t.ref, again)
	}
	pin := failover.Pinned{ID: t.ask.Account, User: t.ask.Account != ""}
	sel := failover.Selection{Session: t.Session, Ref: t.ref, Source: failover.SourceUser, Pin: pin}
	if t.target, err = t.Begin(ctx, sel, t); err != nil {
		return err
	}
	t.res.Ref = t.ref
	t.prober = probe.Prober{Provider: t.target.Provider, Model: t.ref.Model, Now: t.Now, Draw: t.Draw}
	return nil
}

func (t *check) questions(ctx context.Context) error {
	a, err := within(ctx, helloTime, t.prober.Hello)
	t.book(ctx, a.Usage, err)
	if err != nil {
		return err
	}
	t.res.OK, t.res.Took = true, a.Took
	t.tools(ctx)
	if t.ask.Window {
		return t.window(ctx)
	}
	return nil
}

func within[T any](ctx context.Context, d time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := awake.WithTimeout(ctx, d)
	defer cancel()
	return f(ctx)
}

func (t *check) tools(ctx context.Context) {
	if !t.target.Tools {
		t.found.Tools = provider.ToolsFail // its server says so
		return
	}
	var used model.Usage
	works, err := within(ctx, toolsTime, func(ctx context.Context) (works bool, err error) {
		works, used, err = t.prober.Tools(ctx)
		return works, err
	})
	t.book(ctx, used, err)
	switch {
	case err != nil:
		t.note("Whether it calls tools could not be found out: " + t.Words(err, t.ref))
	case works:
		t.found.Tools = provider.ToolsWork
	default:
		t.found.Tools = provider.ToolsFail
	}
}

func (t *check) window(ctx context.Context) error {
	claimed := t.target.ContextWindow
	switch {
	case !t.Free(t.ref):
		t.note("How much of a long text reaches it was not tried, because that costs: for a service its own word counts. The test is for " +
			"models that cost nothing.")
		return nil
	case claimed == 0:
		t.note("Nobody says how large its context window is. Set contextWindow of the model in models.providers, then test again.")
		return nil
	}
	w, err := within(ctx, windowTime, func(ctx context.Context) (probe.Window, error) { return t.prober.Window(ctx, claimed, nil) })
	t.book(ctx, w.Usage, err)
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		t.note("How much of a long text reaches it could not be found out: " + t.Words(err, t.ref))
	case w.Unsure:
		t.note("It did not find a word even in a short text, so nothing can be said about its context window.")
	default:
		t.found.Window, t.found.Limit = w.Holds, w.Fails
		if w.Fails == 0 && w.Holds < claimed {
			t.note(fmt.Sprintf("There was no time to try more than %s tokens of context within a minute.", Thousands(w.Holds)))
		}
	}
	return nil
}

func (t *check) note(s string) { t.res.Notes = append(t.res.Notes, s) }

// book writes what a question used into the ledger.
func (t *check) book(ctx context.Context, u model.Usage, err error) {
	c := spend.Call{At: t.Now(), Model: t.ref, Account: t.account, Session: t.Session, Agent: t.Agent, Usage: u, Failed: err != nil}
	if berr := t.Book(ctx, c); berr != nil {
		t.Logger.Warn("the test of a model could not be booked", "err", berr)
	}
}

// learn remembers what was found, beside what an earlier test of the same server
// found out.
func (t *check) learn(ctx context.Context) {
	t.found.Address, t.found.Version, t.found.At = t.Models.Address(t.ref.Provider), t.Models.ServerVersion(ctx, t.ref.Provider), t.started
	if t.found.Window == 0 {
		t.found.Window, t.found.Limit = t.old.Window, t.old.Limit
	}
	if t.found.Tools == provider.ToolsUnknown {
		t.found.Tools = t.old.Tools
	}
	t.res.Claimed, t.res.Trained, t.res.Found = t.target.ContextWindow, t.choice.Trained, t.found
	if err := t.rows.Save(context.WithoutCancel(ctx), row{t.ref, t.found}); err != nil {
		t.Logger.Warn("what a test of a model found out could not be kept", "err", err)
	}
	t.known(t.ref, t.found)
}

// known is what models are taken for from now on.
func (all *Checks) known(ref model.Ref, found provider.Tested) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.all[ref] = found
	all.Models.Learn(all.all)
}

func (t *check) failed(err error) Result {
	t.res.OK, t.res.Error, t.res.Why = false, t.Words(err, t.ref), failover.ReasonOf(err)
	t.res.Line = "does not answer"
	if t.old != (provider.Tested{}) {
		t.known(t.ref, t.old)
	}
	return t.res
}
