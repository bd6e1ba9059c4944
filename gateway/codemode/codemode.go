// Package codemode is the contract of code mode: a model is shown two tools,
// exec and wait, and calls all its other tools from small programs. It owns the
// catalogue that a program sees, the life of a program (it runs, waits as a
// snapshot, ends in one of several ways), the calls that it makes and what the
// model is told of it.
//
// It runs no JavaScript itself (engine does) and decides nothing about tools:
// each nested call goes through the tool.Set that the run was given, with its
// policy, approvals and audit log. It knows no settings and no sessions: they
// are handed in.
package codemode

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/codemode/sourcemap"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// The names of the two tools.
const (
	Exec = "exec"
	Wait = "wait"
)

// Languages of programs.
const (
	JavaScript = "javascript"
	TypeScript = "typescript"
)

const (
	// maxLive is how many programs may wait at the same time.
	maxLive = 64
	// maxNested is how many calls the programs of one run may make.
	maxNested = 2000
	// maxCode is the longest program, in bytes.
	maxCode = 8 << 20
)

// Engine runs programs; *engine.Engine is one.
type Engine interface {
	Start(ctx context.Context, p engine.Program) (*engine.VM, engine.State, error)
	Restore(ctx context.Context, data []byte, l engine.Limits, scope string) (*engine.VM, error)
}

// Recorder writes down nested calls where the run's other calls are. It is safe
// for concurrent use. A call that cannot be written down is not made.
type Recorder interface {
	Begin(ctx context.Context, parent, toolID string, call model.ToolCall) error
	Progress(parent string, call model.ToolCall, text string)
	End(parent string, call model.ToolCall, res model.ToolResult, took time.Duration)
}

// Watch finds a program that repeats itself, as the agent's loop does. It is
// safe for concurrent use.
type Watch interface {
	Call(model.ToolCall) error
	Result(model.ToolCall, model.ToolResult) error
}

// Settings are the limits of programs; they are within their bounds.
type Settings struct {
	Languages     []string
	Timeout       time.Duration
	Memory        int64
	Output        int
	Snapshot      int
	Pending       int
	TTL           time.Duration
	SearchDefault int
	SearchMost    int
}

func (s Settings) limits() engine.Limits {
	return engine.Limits{Timeout: s.Timeout, Memory: s.Memory, Output: s.Output, Snapshot: s.Snapshot, Pending: s.Pending}
}

// Options are what Runs needs.
type Options struct {
	Engine Engine
	DB     *store.DB
	// Prepare makes JavaScript of a program, with the way back to its text, and
	// refuses one that asks for modules.
	Prepare func(ctx context.Context, code, language string) (string, *sourcemap.Map, *engine.Error)
	// Locate says where a JavaScript program cannot be read, which the engine
	// does not know; nil: nobody says.
	Locate func(ctx context.Context, code string) (line, column int)
	// Record finds where the calls of the run of ctx are written down.
	Record func(ctx context.Context) (Recorder, bool)
	Watch  func() Watch
	Now    func() time.Time
	NewID  func() string
	Log    *slog.Logger
	Debug  bool // what happens to programs is logged
}

// Runs keeps the programs of all runs.
type Runs struct {
	o    Options
	keep keeper

	mu   sync.Mutex
	runs map[string]*run
	live int             // programs that wait
	left map[string]bool // runs of before the start that have programs in the store
}

// New makes the keeper of programs. It loads nothing.
func New(o Options) *Runs {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Runs{o: o, keep: newKeeper(o.DB), runs: map[string]*run{}, left: map[string]bool{}}
}

// run is what the programs of one run share.
type run struct {
	id, sessionKey, sessionID string

	mu    sync.Mutex
	cells map[string]*cell  // that wait
	ended map[string]string // why others do not
	tele  Telemetry
	watch Watch
	calls int // nested calls so far
}

// of finds the run of a scope, or begins to keep it.
func (r *Runs) of(id, sessionKey, sessionID string) *run {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := r.runs[id]
	if u == nil {
		u = &run{id: id, sessionKey: sessionKey, sessionID: sessionID, cells: map[string]*cell{}, ended: map[string]string{}}
		if r.o.Watch != nil {
			u.watch = r.o.Watch()
		}
		r.runs[id] = u
	}
	return u
}

// Over forgets a run that has ended, with all that waits of it.
func (r *Runs) Over(ctx context.Context, runID string) {
	r.mu.Lock()
	u, left := r.runs[runID], r.left[runID]
	delete(r.runs, runID)
	delete(r.left, runID)
	r.mu.Unlock()
	if left {
		if err := r.keep.dropRun(ctx, runID); err != nil {
			r.o.Log.Warn("programs that waited could not be deleted; they are at the next start", "run", runID, "err", err)
		}
	}
	if u == nil {
		return // it ran no program
	}
	u.mu.Lock()
	cells := u.cells
	u.cells = map[string]*cell{}
	u.mu.Unlock()
	for _, c := range cells {
		c.drop(errOver)
		r.gone(c, stateAborted)
	}
}

// Close lets go of everything in memory. What waits stays in the store, for the
// next start.
func (r *Runs) Close() {
	r.mu.Lock()
	runs := r.runs
	r.runs = map[string]*run{}
	r.mu.Unlock()
	for _, u := range runs {
		u.mu.Lock()
		for _, c := range u.cells {
			c.drop(errOver)
		}
		u.mu.Unlock()
	}
}

// Suspended reports whether a program of the run waits in the store, from before
// a start of Hearth.
func (r *Runs) Suspended(tx *store.Tx, runID string) bool {
	if !r.keep.holds(tx, runID) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left[runID] = true
	return true
}

// Sweep deletes what no run can go on with: after a start, everything but the
// programs of runs that alive knows. Those that have expired are told so when
// somebody asks for them, and end with their run.
func (r *Runs) Sweep(ctx context.Context, alive func(runID string) bool) error {
	n, err := r.keep.sweep(ctx, func(k kept) bool { return alive(k.Run) })
	if n > 0 {
		r.debug("swept", "programs", n)
	}
	return err
}

func (r *Runs) debug(what string, args ...any) {
	if r.o.Debug {
		r.o.Log.Info("code mode: "+what, args...)
	}
}
