package engine

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/codemode/sourcemap"
)

// maxWide bounds what of a program is kept to count its columns.
const maxWide = 64 << 10

// VM is one cell's machine. Its methods may be called from any goroutine, one
// at a time; Close also while another runs, which it ends.
type VM struct {
	engine  *Engine
	machine *machine
	root    roots
	limits  Limits
	*body

	mu      sync.Mutex // held while the guest runs, and by Close
	closing atomic.Bool
	closed  bool
	dead    error  // the guest cannot go on
	stop    *Error // why we stopped it
	used    time.Duration
	until   time.Time      // when its time is over, while the guest runs
	seat    *seat          // where it runs, nil where it keeps its place to the end
	lines   int            // of the program
	places  *sourcemap.Map // Program.Places
	wide    string         // the program, if it is short and columns of bytes are not those of characters

	booting, started bool
	bootErr          error

	lastID  int64
	pending map[int64]string // method by id
	told    map[Code]bool    // codes that the cell was given
	outcome *outcome
	spent   int
	calls   []Call
	output  []Output
}

// Start runs a program until it is done or waits for answers. A VM is returned
// whenever one was made, with an error too: close it.
func (e *Engine) Start(ctx context.Context, p Program) (*VM, State, error) {
	if strings.TrimSpace(p.Code) == "" {
		return nil, State{}, failed(InvalidInput, "there is no code to run")
	}
	m, err := e.load(ctx)
	if err != nil {
		return nil, State{}, err
	}
	at, err := e.take(ctx)
	if err != nil {
		return nil, State{}, err
	}
	defer at.leave()
	im, err := e.imageFor(ctx, m, p.Catalog)
	if err != nil {
		return nil, State{}, err
	}
	v, err := e.instance(ctx, m, im, p.Limits.filled())
	if err != nil {
		return nil, State{}, err
	}
	text, err := e.program(p.Code)
	if err != nil {
		v.Close()
		return nil, State{}, err
	}
	v.started, v.places, v.lines = true, p.Places, 1+strings.Count(p.Code, "\n")
	if n := utf8.RuneCountInString(p.Code); n < len(p.Code) && n < maxWide {
		v.wide = p.Code
	}
	st, err := v.run(ctx, at, m.root.start, text)
	return v, st, err
}

func (e *Engine) program(code string) (string, error) {
	var raw [16]byte
	if _, err := io.ReadFull(e.opts.Random, raw[:]); err != nil {
		return "", failed(InternalError, "no randomness: %v", err)
	}
	var seed [4]int32
	for i := range seed {
		seed[i] = int32(binary.LittleEndian.Uint32(raw[i*4:]))
	}
	return startText(code, seed)
}

func startText(code string, seed [4]int32) (string, error) {
	b, err := json.Marshal(struct {
		Code string   `json:"code"`
		Seed [4]int32 `json:"seed"`
	}{code, seed})
	return string(b), err
}

type settlement struct {
	ID    int64           `json:"id"`
	OK    bool            `json:"ok"`
	Value json.RawMessage `json:"value,omitempty"`
	Error *GuestError     `json:"error,omitempty"`
}

// Settle answers calls and goes on until the program is done or waits again.
// An answer to a call that is not pending is ignored.
func (v *VM) Settle(ctx context.Context, answers []Settled) (State, error) {
	at, err := v.engine.take(ctx)
	if err != nil {
		return State{}, err
	}
	defer at.leave()
	v.mu.Lock()
	list := make([]settlement, 0, len(answers))
	for _, a := range answers {
		if v.pending[a.ID] == "" {
			continue
		}
		delete(v.pending, a.ID)
		list = append(list, v.settlement(a))
	}
	v.mu.Unlock()
	b, err := json.Marshal(list)
	if err != nil {
		return State{}, failed(InternalError, "an answer for the program is not JSON: %v", err)
	}
	return v.run(ctx, at, v.root.settle, string(b))
}

func (v *VM) settlement(a Settled) settlement {
	if a.Err == nil {
		if len(a.Value) == 0 {
			a.Value = json.RawMessage("null")
		}
		return settlement{ID: a.ID, OK: true, Value: a.Value}
	}
	e := *a.Err
	if e.Code == "" {
		e.Code = NestedToolFailed
	}
	v.told[e.Code] = true
	return settlement{ID: a.ID, Error: &e}
}

// run calls fn in the guest, works its queue off and says how things stand.
func (v *VM) run(ctx context.Context, at *seat, fn uint64, text string) (State, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return State{}, failed(Aborted, "the run was aborted")
	}
	gctx, leave := v.enter(ctx)
	defer leave()
	v.seat = at
	defer func() { v.seat = nil }()
	err := v.invoke(gctx, fn, text)
	if err == nil {
		err = v.drain(gctx)
	}
	return v.state(err)
}

// enter sets the clock for one stretch of the guest's running. It is the
// machine's own clock, whatever Options.Now tells the guest.
func (v *VM) enter(ctx context.Context) (context.Context, func()) {
	left := v.limits.Timeout - v.used
	v.until = time.Now().Add(left)
	return context.WithValue(ctx, vmKey{}, v), func() { v.used += left - time.Until(v.until) }
}

func (v *VM) state(err error) (State, error) {
	st := State{Calls: v.calls, Output: v.output, Pending: len(v.pending)}
	v.calls, v.output = nil, nil
	if err != nil {
		return st, v.fate(err)
	}
	if o := v.outcome; o != nil && o.Error != nil {
		v.dead = errors.New("the program has failed")
		return st, v.guestError(o.Error)
	}
	switch {
	case len(v.pending) > 0:
		st.Yielding = true
		for method := range maps.Values(v.pending) {
			st.Yielding = st.Yielding && method == MethodYield
		}
	case v.outcome != nil:
		st.Done, st.Value = true, v.outcome.Value
	default:
		v.dead = errors.New("the program waits for nothing")
		return st, failed(InternalError, "the program waits for a promise that nothing will settle")
	}
	return st, nil
}

// fate says why the guest ended.
func (v *VM) fate(err error) error {
	var own *Error
	switch {
	case v.stop != nil:
		return v.stop
	case v.alloc.denied.Load(), errors.Is(err, errOutOfMemory):
		return failed(MemoryLimitExceeded, "the program needs more than %d bytes of memory", v.limits.Memory)
	case errors.As(err, &own):
		return own
	}
	what, _, _ := strings.Cut(err.Error(), "\n")
	return failed(InternalError, "the engine stopped: %s", what)
}

// Close ends the VM and gives its memory back. It may be called twice.
func (v *VM) Close() {
	v.closing.Store(true)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	v.closed = true
	v.engine.mu.Lock()
	delete(v.engine.vms, v)
	v.engine.mu.Unlock()
	v.engine.giveBack(v)
}
