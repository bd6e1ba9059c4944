// Package pause is the one switch that stops Hearth from acting: its tools,
// the network, or everything. It owns the switch, keeps it in the store, and is
// asked before every tool and every model call. It stops nothing that runs, and
// does not know what a tool or a model is.
package pause

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Level says how much is stopped; each stops what the one before it does too.
type Level string

const (
	Off        Level = "off"
	Tools      Level = "tools"      // no tool starts
	Network    Level = "network"    // and no model outside this machine is called
	Everything Level = "everything" // and no model at all: messages wait
)

// Levels lists them.
func Levels() []Level { return []Level{Off, Tools, Network, Everything} }

// Act is what is about to happen.
type Act int

const (
	UseTool     Act = iota + 1
	CallModel       // on this machine
	CallService     // a model elsewhere
)

// State is the switch.
type State struct {
	Level   Level  `json:"level"`
	UntilMs int64  `json:"untilMs,omitempty"` // 0: until somebody resumes
	SinceMs int64  `json:"sinceMs,omitempty"`
	By      string `json:"by,omitempty"` // who switched it
	Reason  string `json:"reason,omitempty"`
}

// Error says that an act is paused.
type Error struct {
	State State
	Act   Act
}

func (e *Error) Error() string {
	what := "no model is called"
	switch {
	case e.Act == UseTool:
		what = "no tool starts"
	case e.State.Level == Network:
		what = "no model outside this machine is called"
	}
	until := "until it is resumed (`hearth resume`, /resume or the switch in the page)"
	if e.State.UntilMs > 0 {
		until = "until " + time.UnixMilli(e.State.UntilMs).Format("15:04 on 2 January") + ", or `hearth resume`"
	}
	return fmt.Sprintf("Hearth is paused (%s): %s %s.", e.State.Level, what, until)
}

// ErrLevel: there is no such level.
var ErrLevel = errors.New("the level of a pause is tools, network, everything or off")

// ErrLength: nobody pauses for so long, or for less than nothing.
var ErrLength = errors.New("a pause lasts between a second and a year")

// maxPause keeps a typing error from pausing for good unseen.
const maxPause = 366 * 24 * time.Hour

// Switch is safe for concurrent use.
type Switch struct {
	db      *store.DB
	now     func() time.Time
	row     store.Bucket[State]
	changed func(State)

	mu    sync.Mutex
	held  string // why everything is paused, whatever the switch says; "": it is not
	state State
	timer *time.Timer
	flip  chan struct{} // closed and replaced at every change
}

// Open reads the switch from the store. It ends a pause by itself from Follow on.
func Open(db *store.DB, now func() time.Time) (*Switch, error) {
	s := &Switch{db: db, now: now, row: store.NewBucket[State]("pause"), state: State{Level: Off}, flip: make(chan struct{})}
	err := db.View(func(tx *store.Tx) error {
		st, ok, err := s.row.Get(tx, []byte("switch"))
		if err == nil && ok {
			s.state = st
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read whether Hearth is paused: %w", err)
	}
	return s, nil
}

// Follow has changed called after every change from now on; it must not block and
// must not call the switch. nil: nobody is told.
func (s *Switch) Follow(changed func(State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = changed
	s.wind()
}

// Hold pauses everything until this program ends, whatever the switch says.
func (s *Switch) Hold(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = reason
}

// holding is what holds now: a hold, or the switch.
func (s *Switch) holding() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != "" {
		return State{Level: Everything, Reason: s.held}
	}
	return s.current()
}

// Get returns the switch as it holds now.
func (s *Switch) Get() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current()
}

// current is the state, off when its time is over; s.mu is held.
func (s *Switch) current() State {
	if s.state.UntilMs > 0 && s.now().UnixMilli() >= s.state.UntilMs {
		return State{Level: Off}
	}
	return s.state
}

// Set changes the switch and returns when that is on disk. length 0 means until
// somebody resumes.
func (s *Switch) Set(ctx context.Context, level Level, length time.Duration, by, reason string) (State, error) {
	if level == "" || !known(level) {
		return s.Get(), ErrLevel
	}
	if length < 0 || length > maxPause {
		return s.Get(), fmt.Errorf("%w, not %s", ErrLength, length)
	}
	now := s.now()
	st := State{Level: level, SinceMs: now.UnixMilli(), By: by, Reason: reason}
	if level == Off {
		st = State{Level: Off}
	} else if length > 0 {
		st.UntilMs = now.Add(length).UnixMilli()
	}
	if level != Off {
		// What is paused is paused at once, also when the disk is full.
		s.put(st)
	}
	err := s.db.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error { return s.row.Put(tx, []byte("switch"), st) }})
	if err != nil {
		return s.Get(), fmt.Errorf("keep the pause: %w", err)
	}
	if level == Off {
		s.put(st)
	}
	return st, nil
}

func known(l Level) bool {
	for _, k := range Levels() {
		if k == l {
			return true
		}
	}
	return false
}

func (s *Switch) put(st State) {
	s.mu.Lock()
	s.state = st
	s.wind()
	close(s.flip)
	s.flip = make(chan struct{})
	changed := s.changed
	s.mu.Unlock()
	if changed != nil {
		changed(st)
	}
}

// wind sets the clock by which a pause ends by itself; s.mu is held.
func (s *Switch) wind() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.state.UntilMs == 0 || s.state.Level == Off {
		return
	}
	until := s.state.UntilMs
	s.timer = time.AfterFunc(time.Duration(max(0, until-s.now().UnixMilli()))*time.Millisecond, func() {
		s.mu.Lock()
		mine := s.state.UntilMs == until
		s.mu.Unlock()
		if mine {
			s.put(State{Level: Off})
		}
	})
}

// Check returns an *Error when the act is paused.
func (s *Switch) Check(act Act) error {
	if st := s.holding(); st.stops(act) {
		return &Error{State: st, Act: act}
	}
	return nil
}

func (st State) stops(act Act) bool {
	switch st.Level {
	case Tools:
		return act == UseTool
	case Network:
		return act == UseTool || act == CallService
	case Everything:
		return true
	}
	return false
}

// Wait returns when the act is not paused, or with ctx's cause.
func (s *Switch) Wait(ctx context.Context, act Act) error {
	for {
		s.mu.Lock()
		stopped, flip := s.held != "" || s.current().stops(act), s.flip
		s.mu.Unlock()
		if !stopped {
			return nil
		}
		select {
		case <-flip:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close stops the clock.
func (s *Switch) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
}

// Wire is the state as clients see it.
func (st State) Wire() protocol.Pause {
	return protocol.Pause{Level: string(st.Level), UntilMs: st.UntilMs, SinceMs: st.SinceMs, By: st.By, Reason: st.Reason}
}
