package gateway

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/provider/probe"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spend"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// helloTime is how long the first answer may take: a model on this computer
	// may have to be loaded.
	helloTime  = 3 * time.Minute
	toolsTime  = time.Minute
	windowTime = time.Minute
	// goodWindow is what a conversation with tools needs.
	goodWindow = 16_000
	// testSession is what tests are booked under.
	testSession = "agent:" + session.DefaultAgent + ":model-test"
)

// modelTests are what tests of models have found out, one row a model.
type modelTests struct {
	rows store.Bucket[testedModel]

	mu  sync.Mutex // guards all, and keeps tests from each other
	all map[model.Ref]provider.Tested
}

type testedModel struct {
	Ref model.Ref
	provider.Tested
}

func (g *Gateway) openTests() error {
	g.tests.rows, g.tests.all = store.NewBucket[testedModel]("model-tests"), map[model.Ref]provider.Tested{}
	err := g.store.View(func(tx *store.Tx) error {
		for row, err := range g.tests.rows.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			g.tests.all[row.Value.Ref] = row.Value.Tested
		}
		return nil
	})
	if err != nil {
		return &StartError{What: "What is known of your models could not be read", Err: err, Fix: "Restore the store from a backup"}
	}
	g.models.Learn(g.tests.all)
	return nil
}

// trial is one test of a model, and the session of its calls.
type trial struct {
	g       *Gateway
	target  failover.Target
	prober  probe.Prober
	choice  provider.Choice
	started time.Time
	account string
	ref     model.Ref
	old     provider.Tested // by an earlier test of the same server
	res     protocol.ModelsTestResult
	found   provider.Tested
}

func (*trial) Persist(context.Context, failover.Override) error { return nil }
func (*trial) Rollback(context.Context, failover.Override)      {}
func (*trial) Asking(failover.Target)                           {}
func (*trial) Switched() (failover.Selection, bool)             { return failover.Selection{}, false }
func (*trial) Noted(context.Context, failover.Attempt)          {}
func (*trial) Waiting(time.Duration, failover.Reason)           {}
func (t *trial) Landed(_ context.Context, l failover.Landing)   { t.account = l.Account }

// testRef is which model is meant.
func (g *Gateway) testRef(p protocol.ModelsTestParams) model.Ref {
	if p.Model != "" {
		if name, ok := g.byAlias(p.Model); ok {
			return g.models.Named(name)
		}
		return g.models.Named(p.Model)
	}
	if ref, ok := g.models.First(p.Provider); ok && p.Provider != "" {
		return ref
	}
	ref, _ := g.models.Default()
	return ref
}

// testModel asks a model a few questions, the way conversations do, but with no
// other model in its place. What it costs is booked.
func (g *Gateway) testModel(ctx context.Context, p protocol.ModelsTestParams) protocol.ModelsTestResult {
	t := &trial{g: g, started: g.opts.Now()}
	t.ref = g.testRef(p)
	t.res = protocol.ModelsTestResult{Model: t.ref.String(), Notes: []string{}}
	if err := t.begin(ctx, p); err != nil {
		return t.failed(err)
	}
	if t.target.BuiltIn {
		t.res.Line = "The built-in guide answers. It is no AI model."
		t.res.Error = "No model is connected. Get one onto this computer with `hearth models pull qwen3:8b`, log in with `hearth models auth login`, or add a key with `hearth models auth add`."
		return t.res
	}
	if err := t.questions(ctx, p.Context); err != nil {
		return t.failed(err)
	}
	t.learn(ctx)
	t.words()
	return t.res
}

func (t *trial) begin(ctx context.Context, p protocol.ModelsTestParams) (err error) {
	g := t.g
	g.awaitSecrets(ctx)
	act := pause.CallService
	if g.models.Nearby(t.ref) {
		act = pause.CallModel
	}
	if err := g.pause.Check(act); err != nil {
		return err
	}
	if t.choice, err = g.models.Resolve(ctx, t.ref); err != nil {
		return err
	}
	t.ref = t.choice.Ref
	if old, ok := g.models.TestOf(t.ref); ok { // it is not taken for granted this time
		t.old = old
		again := provider.Tested{Address: old.Address, Version: old.Version, At: old.At}
		if !p.Context {
			again.Window, again.Limit = old.Window, old.Limit
		}
		g.known(t.ref, again)
	}
	pin := failover.Pin{ID: p.ProfileID, User: p.ProfileID != ""}
	sel := failover.Selection{Session: testSession, Ref: t.ref, Source: failover.SourceUser, Pin: pin}
	if t.target, err = g.failover.Begin(ctx, sel, t); err != nil {
		return err
	}
	t.res.Model = t.ref.String()
	t.prober = probe.Prober{Provider: t.target.Provider, Model: t.ref.Model, Now: g.opts.Now, Draw: draw}
	return nil
}

// draw is a number from 0 to n-1.
func draw(n int) int {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return int(binary.LittleEndian.Uint64(b[:]) % uint64(n))
}

func (t *trial) questions(ctx context.Context, context bool) error {
	a, err := within(ctx, helloTime, t.prober.Hello)
	t.book(ctx, a.Usage, err)
	if err != nil {
		return err
	}
	t.res.OK, t.res.TookMs = true, a.Took.Milliseconds()
	t.tools(ctx)
	if context {
		return t.window(ctx)
	}
	return nil
}

func within[T any](ctx context.Context, d time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return f(ctx)
}

func (t *trial) tools(ctx context.Context) {
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
		t.note("Whether it calls tools could not be found out: " + t.g.wordsOf(err, t.ref))
	case works:
		t.found.Tools = provider.ToolsWork
	default:
		t.found.Tools = provider.ToolsFail
	}
}

func (t *trial) window(ctx context.Context) error {
	claimed := t.target.ContextWindow
	switch {
	case !t.g.purse.Free(t.ref):
		t.note("How much of a long text reaches it was not tried, because that costs: for a service its own word counts. The test is for models that cost nothing.")
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
		t.note("How much of a long text reaches it could not be found out: " + t.g.wordsOf(err, t.ref))
	case w.Unsure:
		t.note("It did not find a word even in a short text, so nothing can be said about its context window.")
	default:
		t.found.Window, t.found.Limit = w.Holds, w.Fails
		if w.Fails == 0 && w.Holds < claimed {
			t.note(fmt.Sprintf("There was no time to try more than %s tokens of context within a minute.", thousands(w.Holds)))
		}
	}
	return nil
}

func (t *trial) note(s string) { t.res.Notes = append(t.res.Notes, s) }

// book writes what a question used into the ledger.
func (t *trial) book(ctx context.Context, u model.Usage, err error) {
	c := spend.Call{At: t.g.opts.Now(), Model: t.ref, Account: t.account, Session: testSession, Agent: session.DefaultAgent, Usage: u, Failed: err != nil}
	if berr := t.g.purse.Spent(ctx, c); berr != nil {
		t.g.log.Warn("the test of a model could not be booked", "err", berr)
	}
}

// learn remembers what was found, beside what an earlier test of the same server
// found out.
func (t *trial) learn(ctx context.Context) {
	g, ref := t.g, t.ref
	t.found.Address, t.found.Version, t.found.At = g.models.Address(ref.Provider), g.models.ServerVersion(ctx, ref.Provider), t.started
	if t.found.Window == 0 {
		t.found.Window, t.found.Limit = t.old.Window, t.old.Limit
	}
	if t.found.Tools == provider.ToolsUnknown {
		t.found.Tools = t.old.Tools
	}
	t.res.Claimed, t.res.Trained, t.res.Verified = t.target.ContextWindow, t.choice.Trained, verifiedOf(t.found)
	err := g.store.Update(context.WithoutCancel(ctx), store.Write{Do: func(tx *store.Tx) error {
		return g.tests.rows.Put(tx, []byte(ref.String()), testedModel{ref, t.found})
	}})
	if err != nil {
		g.log.Warn("what a test of a model found out could not be kept", "err", err)
	}
	g.known(ref, t.found)
}

// known is what models are taken for from now on.
func (g *Gateway) known(ref model.Ref, found provider.Tested) {
	g.tests.mu.Lock()
	defer g.tests.mu.Unlock()
	g.tests.all[ref] = found
	g.models.Learn(g.tests.all)
}

func verifiedOf(t provider.Tested) *protocol.ModelVerified {
	return &protocol.ModelVerified{ContextWindow: t.Window, Less: t.Limit > 0, Tools: t.Tools, At: t.At.UnixMilli()}
}

func (t *trial) failed(err error) protocol.ModelsTestResult {
	t.res.OK, t.res.Error, t.res.ErrorKind = false, t.g.wordsOf(err, t.ref), string(failover.ReasonOf(err))
	t.res.Line = "does not answer"
	if t.old != (provider.Tested{}) {
		t.g.known(t.ref, t.old)
	}
	return t.res
}

func (g *Gateway) wordsOf(err error, ref model.Ref) string {
	message, _ := g.explain(err, ref)
	var paused *pause.Error
	if errors.As(err, &paused) {
		message = sentence(paused.Error())
	}
	return message
}
