package session

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Mode says what happens to a message that arrives while another is answered.
type Mode string

const (
	// Steer lets it into the running turn at the next tool boundary, or answers
	// it next when there is none.
	Steer Mode = "steer"
	// Followup answers it next, as a turn of its own.
	Followup Mode = "followup"
	// Collect answers all that wait for one route as one turn.
	Collect Mode = "collect"
	// Interrupt stops the running answer and goes on with it.
	Interrupt Mode = "interrupt"
)

// Modes lists them for people.
func Modes() []Mode { return []Mode{Steer, Followup, Collect, Interrupt} }

// Drop says what gives way when a queue is full.
type Drop string

const (
	DropOld       Drop = "old"       // the oldest waiting message
	DropNew       Drop = "new"       // the new one is refused
	DropSummarize Drop = "summarize" // the oldest, with a line about it before the next turn
)

// QueuePolicy is how a session queues.
type QueuePolicy struct {
	Mode     Mode
	Debounce time.Duration // quiet time before steering or collecting
	Cap      int           // waiting messages
	Drop     Drop
}

// DefaultQueue is what holds where nothing is set.
func DefaultQueue() QueuePolicy {
	return QueuePolicy{Mode: Steer, Debounce: 500 * time.Millisecond, Cap: 20, Drop: DropSummarize}
}

// QueueOverride is what a person set for one session; zero fields are not set.
type QueueOverride struct {
	Mode       Mode  `json:"mode,omitempty"`
	DebounceMs int64 `json:"debounceMs,omitempty"`
	Cap        int   `json:"cap,omitempty"`
	Drop       Drop  `json:"drop,omitempty"`
}

// ErrQueueFull: the session has as many waiting messages as it may.
var ErrQueueFull = errors.New("too many messages are waiting in this session")

// Check refuses what is no mode, drop rule or sensible number.
func (o QueueOverride) Check() error {
	switch {
	case o.Mode != "" && !slices.Contains(Modes(), o.Mode):
		return fmt.Errorf("queue mode %q is not known; use steer, followup, collect or interrupt", o.Mode)
	case o.Drop != "" && o.Drop != DropOld && o.Drop != DropNew && o.Drop != DropSummarize:
		return fmt.Errorf("drop rule %q is not known; use summarize, old or new", o.Drop)
	case o.Cap < 0 || o.Cap > 1000:
		return fmt.Errorf("the queue's cap must be between 1 and 1000")
	case o.DebounceMs < 0 || o.DebounceMs > 60_000:
		return fmt.Errorf("the queue's debounce must be between 0 and 60 seconds")
	}
	return nil
}

// over lays what a session set over the policy of its surface.
func (p QueuePolicy) over(o *QueueOverride) QueuePolicy {
	if o == nil {
		return p
	}
	if o.Mode != "" {
		p.Mode = o.Mode
	}
	if o.DebounceMs > 0 {
		p.Debounce = time.Duration(o.DebounceMs) * time.Millisecond
	}
	if o.Cap > 0 {
		p.Cap = o.Cap
	}
	if o.Drop != "" {
		p.Drop = o.Drop
	}
	return p
}
