package agent

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/model"
)

const (
	// maxSameCalls is how often one call may be repeated in a row (F-PROV-17).
	maxSameCalls = 5
	// maxSamePairs is how often two calls may take turns.
	maxSamePairs = 6
	// maxSameTotal is how often one call may come in a turn, with others between:
	// a test may well be run again after each change.
	maxSameTotal = 12
)

// ErrLoop ends a turn whose model repeats itself; the error is a *LoopError.
var ErrLoop = errors.New("the model repeated itself")

// LoopError says what was repeated, in plain words.
type LoopError struct{ What string }

func (e *LoopError) Error() string { return ErrLoop.Error() + ": " + e.What }

// Is makes errors.Is(err, ErrLoop) true.
func (e *LoopError) Is(target error) bool { return target == ErrLoop }

// Repeats finds repetitions in calls that are made beside each other: those of
// programs. It is safe for concurrent use.
type Repeats struct {
	mu   sync.Mutex
	loop loop
}

// NewRepeats has seen nothing.
func NewRepeats() *Repeats { return &Repeats{} }

// Call counts a call before it starts; the error is ErrLoop.
func (r *Repeats) Call(c model.ToolCall) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.loop.call(c)
}

// Result counts what a call came to.
func (r *Repeats) Result(c model.ToolCall, res model.ToolResult) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.loop.result(c, res)
}

type sum [sha256.Size]byte

// loop finds repetitions in the calls of a turn.
type loop struct {
	same  map[sum]int // calls, by name and arguments
	last  []sum       // the newest calls, as many as maxSamePairs pairs have
	inRow int         // how often the newest came in a row

	// Looking at something that goes on may be repeated while there is news.
	looked map[string]sum // tool → its last result
	stale  map[string]int // tool → how often in a row that result came
}

// waits are the tools with which a model looks at what goes on elsewhere.
func waits(name string) bool { return name == "process" || name == "subagents" || name == "wait" }

// call counts a call that is asked for, before anything of its batch starts.
func (l *loop) call(c model.ToolCall) error {
	key := sum(sha256.Sum256([]byte(c.Name + "\x00" + string(bytes.TrimSpace(c.Arguments)))))
	if l.same == nil {
		l.same, l.looked, l.stale = map[sum]int{}, map[string]sum{}, map[string]int{}
	}
	if waits(c.Name) {
		return nil // judged by what it finds
	}
	if n := len(l.last); n == 0 || l.last[n-1] != key {
		l.inRow = 0
	}
	l.same[key]++
	if l.inRow++; l.inRow > maxSameCalls || l.same[key] > maxSameTotal {
		return &LoopError{What: fmt.Sprintf("%s in the same way %d times", c.Name, l.same[key])}
	}
	if l.last = append(l.last, key); len(l.last) > 2*maxSamePairs {
		l.last = l.last[1:]
	}
	if l.alternate() {
		return &LoopError{What: fmt.Sprintf("two steps in turn, %d times, the last one %s", maxSamePairs, c.Name)}
	}
	return nil
}

// alternate: the newest calls are A B A B …
func (l *loop) alternate() bool {
	if len(l.last) < 2*maxSamePairs || l.last[0] == l.last[1] {
		return false
	}
	for i := 2; i < len(l.last); i++ {
		if l.last[i] != l.last[i-2] {
			return false
		}
	}
	return true
}

// result counts how often looking found nothing new.
func (l *loop) result(c model.ToolCall, res model.ToolResult) error {
	if !waits(c.Name) {
		return nil
	}
	found := sum(sha256.Sum256([]byte(res.Text)))
	if l.looked[c.Name] != found {
		l.looked[c.Name], l.stale[c.Name] = found, 0
	}
	if l.stale[c.Name]++; l.stale[c.Name] > maxSameCalls {
		return &LoopError{What: fmt.Sprintf("looking with %s %d times without news", c.Name, l.stale[c.Name])}
	}
	return nil
}
