package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// The states of a program.
const (
	stateRunning   = "running"
	stateWaiting   = "waiting"
	stateCompleted = "completed"
	stateFailed    = "failed"
	stateExpired   = "expired"
	stateAborted   = "aborted"
)

var (
	errOver    = errors.New("the answer that the program belonged to is over")
	errExpired = errors.New("the program waited for too long")
	errEnded   = errors.New("the program has ended")
)

// cell is one program.
type cell struct {
	id     string
	runs   *Runs
	run    *run
	set    Settings
	cat    *catalog
	tools  *tool.Set
	scope  tool.Scope
	parent string // the call of exec or wait that it is under now

	ctx     context.Context // of its nested calls
	cancel  context.CancelCauseFunc
	say     func(text string) // shows how it stands
	patient bool              // it is waited for without end, and never put away
	heard   func(Output)      // gets what it says; may be nil

	mu      sync.Mutex
	pending map[int64]*nested
	done    []engine.Settled // answers that the program has not got yet
	holds   int              // people who are waited for
	outside []string         // where what it read is from
	state   string
	expiry  *time.Timer
	expires int64
	calls   int // made so far, for their ids

	news chan struct{} // holds a token when something above changed
	vm   *engine.VM    // while it runs
	said []Output
	left time.Duration // for waiting, in this exec or wait
}

func (r *Runs) cell(ctx context.Context, u *run, p program) *cell {
	c := &cell{
		id: r.o.NewID(), runs: r, run: u, set: p.set, cat: p.cat, tools: p.tools, scope: p.scope, parent: p.parent, say: p.say,
		patient: p.patient, heard: p.heard,
		pending: map[int64]*nested{}, news: make(chan struct{}, 1), state: stateRunning,
	}
	c.within(ctx)
	return c
}

// within lets nested calls live as long as ctx, under the program.
func (c *cell) within(ctx context.Context) {
	c.ctx, c.cancel = context.WithCancelCause(context.WithValue(ctx, cellKey{}, c))
}

type cellKey struct{}

// WaitingForPerson stops the clock of the program that ctx belongs to, if it
// belongs to one, until resume is called.
func WaitingForPerson(ctx context.Context) (resume func()) {
	c, ok := ctx.Value(cellKey{}).(*cell)
	if !ok {
		return func() {}
	}
	c.hold(1)
	return sync.OnceFunc(func() { c.hold(-1) })
}

func (c *cell) hold(n int) {
	c.mu.Lock()
	c.holds += n
	c.mu.Unlock()
	c.wake()
}

func (c *cell) wake() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// drive lets the program go on until it ends or has to wait for longer than its
// time.
func (c *cell) drive(ctx context.Context, st engine.State, err error) Result {
	for {
		c.hear(st.Output)
		if err != nil {
			return c.fail(err)
		}
		if (Result{Output: c.said}).size() > c.set.Output {
			return c.fail(&engine.Error{Code: engine.OutputLimitExceeded, Message: "the program said more than it may"})
		}
		if st.Done {
			return c.complete(st.Value)
		}
		answers := c.dispatch(st.Calls)
		if len(answers) == 0 && c.yields() && !c.patient {
			return c.suspend(ctx, ReasonYield)
		}
		if len(answers) == 0 {
			var why error
			if answers, why = c.await(ctx); why != nil {
				return c.fail(why)
			}
			if answers == nil {
				return c.suspend(ctx, ReasonTools)
			}
		}
		began := time.Now()
		st, err = c.vm.Settle(ctx, answers)
		c.left -= time.Since(began)
	}
}

// hear keeps what the program said, and passes it on while there is room.
func (c *cell) hear(out []Output) {
	before := (Result{Output: c.said}).size()
	c.said = append(c.said, out...)
	if c.heard == nil {
		return
	}
	for _, o := range within(out, c.set.Output-before) {
		c.heard(o)
	}
}

// yields reports whether the program gave up control.
func (c *cell) yields() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.pending {
		if n.method == engine.MethodYield {
			return true
		}
	}
	return false
}

// await waits for answers, nil when the time is used up. It does not run while a
// person is waited for.
func (c *cell) await(ctx context.Context) ([]engine.Settled, error) {
	for {
		c.mu.Lock()
		done, held := c.done, c.holds > 0
		c.done = nil
		for _, s := range done {
			delete(c.pending, s.ID)
		}
		c.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return nil, &engine.Error{Code: engine.Aborted, Message: "the program was stopped"}
		case len(done) > 0:
			return done, nil
		case !held && !c.patient && c.left <= 0:
			return nil, nil
		}
		c.sleep(ctx, held || c.patient)
	}
}

// sleep waits for news, at most for the time that is left if that counts.
func (c *cell) sleep(ctx context.Context, untimed bool) {
	late := make(chan struct{})
	if !untimed {
		t := awake.AfterFunc(c.left, func() { close(late) })
		defer func() { c.left, _ = t.Stop() }()
	}
	select {
	case <-c.news:
	case <-late:
	case <-ctx.Done():
	}
}

// complete ends a program that returned.
func (c *cell) complete(value json.RawMessage) Result {
	res := Result{Status: Completed, Value: value, Output: c.said}
	if res.size() > c.set.Output {
		return c.fail(&engine.Error{Code: engine.OutputLimitExceeded, Message: "the program returned more than it may; return less, for " +
			"example only what matters of it"})
	}
	c.end(stateCompleted, errEnded)
	return c.tell(res)
}

// fail ends a program that cannot go on.
func (c *cell) fail(err error) Result {
	res := Result{Status: Failed, Error: err.Error(), Code: engine.InternalError, Output: within(c.said, c.set.Output)}
	var e *engine.Error
	if errors.As(err, &e) {
		res.Error, res.Code, res.Line, res.Column = e.Message, e.Code, e.Line, e.Column
	}
	state := stateFailed
	if res.Code == engine.Aborted {
		state = stateAborted
	}
	c.end(state, errEnded)
	c.run.mu.Lock()
	c.run.tele.failed(res.Code)
	c.run.mu.Unlock()
	return c.tell(res)
}

// end stops what the program began and gives its machine back.
func (c *cell) end(state string, why error) {
	c.mu.Lock()
	c.state = state
	c.mu.Unlock()
	c.drop(why)
	c.run.mu.Lock()
	c.run.ended[c.id] = state
	c.run.mu.Unlock()
	c.runs.debug(state, "program", c.id, "run", c.run.id)
}

// drop lets go of everything that a program holds but its place in the store.
func (c *cell) drop(why error) {
	c.cancel(why)
	c.mu.Lock()
	if c.expiry != nil {
		c.expiry.Stop()
	}
	vm := c.vm
	c.vm = nil
	c.mu.Unlock()
	if vm != nil {
		vm.Close()
	}
}

// tell completes a result with what the run has counted.
func (c *cell) tell(res Result) Result {
	c.run.mu.Lock()
	res.Telemetry = c.run.tele.clone()
	c.run.mu.Unlock()
	res.Telemetry.Visible, res.Telemetry.Catalog = []string{Exec, Wait}, c.cat.tele
	c.mu.Lock()
	res.outside = slices.Clone(c.outside)
	c.mu.Unlock()
	c.said = nil
	return res
}
