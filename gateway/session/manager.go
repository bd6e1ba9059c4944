package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// Model is what answers a turn. Its provider goes on to other models by itself.
type Model = failover.Target

// Delta says that the answer of a run has grown to Text.
type Delta struct {
	RunID, SessionKey, AgentID string
	Text                       string
	At                         time.Time
}

// Publisher shows what happens to whoever is connected. Its methods must not
// block: some are called from the store's writer.
type Publisher interface {
	Delta(Delta)
	Chat(protocol.ChatEvent) // status events only; terminal ones go through the Outbox
	Agent(protocol.AgentEvent)
	SessionChanged(protocol.SessionsChanged)
	Message(protocol.SessionMessage)
}

// Outbox takes terminal events in the transaction that makes them true and
// delivers them after it. Wake must not block.
type Outbox interface {
	Put(tx *store.Tx, ev protocol.ChatEvent, run Run) error
	Wake()
}

// Follower sees the runs that came by a route while they are answered. Its methods are called from the run's goroutine, in order; End comes
// before the run's end is written and may take a moment.
type Follower interface {
	Begin(run Run)
	Think(runID, words string)
	Say(runID, words string)
	// Intend comes before any of the tools of a message starts; usage is the run's
	// so far.
	Intend(runID string, msg model.Message, usage model.Usage)
	Tool(runID, name string, args []byte)
	End(ctx context.Context, run Run, message *protocol.Message, failed bool)
	Done(runID string) // its end is durable
}

// Asked is what a run's system prompt depends on. What is known of it already
// is handed on, so that nobody reads it again.
type Asked struct {
	Run                 Run
	Model               model.Ref
	Scope               *tool.Scope      // nil: the model uses no tools
	Tools               []model.ToolSpec // with those that only programs call
	Thinking, Reasoning string           // levels of the session
	Messages            int              // in the session
}

// Models answer turns.
type Models interface {
	// Begin finds the model for a turn, and tells s what becomes of it; s may be
	// nil. It may wait until models are known.
	Begin(ctx context.Context, sel failover.Selection, s failover.Session) (Model, error)
	// Book books model calls of a session in the transaction. It may run more than
	// once.
	Book(tx *store.Tx, session string, calls []failover.Attempt) error
	// Cost is what a call cost, in units of the currency.
	Cost(call failover.Attempt) float64
	// Explain turns a failed model call into words for people and a kind
	// (refusal, timeout, rate_limit, context_length, unknown).
	Explain(err error, ref model.Ref) (message, kind string)
	// Repair is what can be done about a failed call, "" when nothing is known.
	Repair(err error) protocol.Repair
	// RetryAt is when a failed call may be made again, zero when nobody knows.
	RetryAt(err error) time.Time
}

// Tools are those of runs.
type Tools interface {
	// For is what a run may use, and on whose behalf.
	For(rec Run, ref model.Ref) (tool.Scope, *tool.Set)
	// Rounds is how often a run may go back to the model, 0 as usual.
	Rounds(rec Run) int
	// Asks are what the program of a run asks of the model, looked at before each
	// call of it; nil: nothing.
	Asks(rec Run) *model.Options
}

// Prompter makes system prompts.
type Prompter interface {
	// Prompt is a run's system prompt; its first stable bytes are the same in every
	// turn of the session.
	Prompt(a Asked) (system string, stable int)
}

// Gate holds runs back. Messages wait in the queue then, and commands do not.
type Gate interface {
	// Hold waits while a run may not begin, and says so with tell where people read
	// it; choose is the model that its turn or its session names.
	Hold(ctx context.Context, rec Run, choose func() (failover.Selection, error), tell func(ctx context.Context, text string))
	// Held reports whether a run may have to wait.
	Held() bool
}

// Observer hears what becomes of runs and sessions.
type Observer interface {
	// Over hears that a run has ended for good.
	Over(ctx context.Context, runID string)
	// Stopped hears that the runs of a session, or the one that is named, were
	// stopped by somebody.
	Stopped(ctx context.Context, key, runID string)
	// Left hears that a session begins anew or is deleted, so that what runs on its
	// behalf ends.
	Left(key string)
	// Broke hears that Hearth itself failed while it made an answer, where that
	// happened.
	Broke(where string, panicked any)
}

// Suspended is work of runs that was put away.
type Suspended interface {
	// Suspended reports whether a run that a stop of Hearth cut off between two steps
	// has work put away that it can go on with.
	Suspended(tx *store.Tx, runID string) bool
}

// Settings are those that are looked up whenever they are needed.
type Settings interface {
	// Queue is the policy of a route's surface.
	Queue(route string) QueuePolicy
	// Timeout of a run that names none.
	Timeout() time.Duration
}

// Engine is what runs are made with. Most of these parts know the sessions
// themselves, so Equip may say them after NewManager.
type Engine struct {
	// Tools are those of runs; nil: none at all.
	Tools Tools
	// Prompt makes system prompts; it is needed.
	Prompt Prompter
	// Gate holds runs back; nil: never.
	Gate Gate
	// Observer hears what becomes of runs and sessions; nil: nobody.
	Observer Observer
	// Suspended is work of runs that was put away; nil: none is.
	Suspended Suspended
}

// Options wires a Manager.
type Options struct {
	DB *store.DB
	// Publish, Outbox and Follow are told first; nil: nobody. Subscribe adds more.
	Publish Publisher
	Outbox  Outbox
	Follow  Follower
	Logger  *slog.Logger
	// Tell sends words that are not the assistant's where a run's answer goes, with
	// the transaction; nil: nowhere.
	Tell func(tx *store.Tx, run Run, id, text string) error
	// Models answer turns; it is needed.
	Models Models
	Engine
	// Redact hides secrets in what is kept of a failure and of the arguments of
	// calls; default: leaves them.
	Redact func(string) string
	// Notes is where durable notes of a conversation go before a summary; runs
	// are those that the summary stands for, one that is no owner's for what
	// nobody can tell any more. ok is false while there is no place. nil: never.
	Notes func(key string, runs []Run) (keep func(ctx context.Context, text string) error, ok bool)
	// Picture reads a picture that a message refers to; nil: there are none.
	Picture  func(id string) (model.Image, error)
	Settings Settings
	// MaxRuns is how many answers are made at the same time; more wait, the
	// oldest first. 0 means 1000.
	MaxRuns int
	Now     func() time.Time
	NewID   func() string // UUIDs
	Epoch   string        // of this boot
}

// Manager keeps all sessions of the gateway.
type Manager struct {
	Options
	t         tables
	listeners []Listener
	watchers  []Watcher

	runCtx  context.Context // of all runs; ends on Close
	stopRun context.CancelCauseFunc
	work    sync.WaitGroup // lanes' goroutines

	count atomic.Int64  // sessions
	slots chan struct{} // one token for each answer that may be made now

	showing sync.Mutex // holds while a session is shown to the subscribers

	mu     sync.Mutex
	closed bool
	lanes  map[string]*lane // by session key
	live   map[string]*run  // by run id: queued and active
}

var (
	errShutdown    = errors.New("Hearth is stopping")
	errAborted     = errors.New("stopped by the person")
	errInterrupted = errors.New("a newer message took its place")
	errTimeout     = errors.New("the run took too long")

	// ErrClosed: the gateway is stopping and takes no more messages.
	ErrClosed = errors.New("Hearth is stopping")
	// ErrNotFound: no session or run of that name.
	ErrNotFound = errors.New("not found")
)

// NewManager returns a manager. Recover must be called once, before anything
// else; the manager works until Close.
func NewManager(ctx context.Context, opts Options) *Manager {
	if opts.MaxRuns <= 0 {
		opts.MaxRuns = 1000
	}
	opts.subscribers()
	m := &Manager{Options: opts, t: newTables(), slots: make(chan struct{}, opts.MaxRuns), lanes: make(map[string]*lane),
		live: make(map[string]*run)}
	m.runCtx, m.stopRun = context.WithCancelCause(context.WithoutCancel(ctx))
	return m
}

// Equip says what runs are made with. It is called before Recover.
func (m *Manager) Equip(e Engine) { m.Engine = e }

// Close stops taking messages, ends active runs with their partial text
// checkpointed (the next start closes or repeats them) and waits for the lanes
// until ctx ends.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.stopRun(errShutdown)
	done := make(chan struct{})
	go func() {
		m.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for running answers: %w", ctx.Err())
	}
}

// laneOf returns the lane of a key, making it on first use.
func (m *Manager) laneOf(key string) *lane {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.lanes[key]
	if !ok {
		l = &lane{key: key}
		m.lanes[key] = l
	}
	return l
}

// peekLane returns the lane of a key if there is one.
func (m *Manager) peekLane(key string) *lane {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lanes[key]
}

func (m *Manager) liveRun(id string) *run {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.live[id]
}

// Load tells how many runs are active and queued.
func (m *Manager) Load() (active, queued int) {
	m.mu.Lock()
	lanes := make([]*lane, 0, len(m.lanes))
	for _, l := range m.lanes {
		lanes = append(lanes, l)
	}
	m.mu.Unlock()
	for _, l := range lanes {
		s := l.snapshot()
		if s.active != "" {
			active++
		}
		queued += len(s.queued)
	}
	return active, queued
}

func (m *Manager) nowMs() int64 { return m.Now().UnixMilli() }

// KeepNotes says where durable notes of a conversation go before a summary, see
// Options.Notes. It is called before anything runs.
func (m *Manager) KeepNotes(notes func(key string, runs []Run) (keep func(ctx context.Context, text string) error, ok bool)) {
	m.Notes = notes
}
