// Package subagent keeps the sub-agents: which run started which, how many there
// may be, and that the result of each is told to its requester exactly once,
// whatever happens in between. It does not run them and does not know what a
// session is: starting, telling, stopping and removing are handed in.
package subagent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// mark stands before the name of each sub-agent in a session key.
const mark = ":subagent:"

// Depth is how many sub-agents deep a session is: 0 for those of people.
func Depth(sessionKey string) int { return strings.Count(sessionKey, mark) }

// KeyBelow is the session key of a new sub-agent.
func KeyBelow(parentKey, agent, id string) string {
	if Depth(parentKey) > 0 {
		return parentKey + mark + id
	}
	return "agent:" + agent + mark + id
}

// State is where a sub-agent is in its life.
type State string

const (
	Queued  State = "queued"
	Running State = "running"
	Ended   State = "ended" // and its requester does not know yet
	Told    State = "told"
)

// Cleanup says what becomes of a sub-agent's session.
type Cleanup string

const (
	Keep   Cleanup = "keep" // it is archived after a while
	Delete Cleanup = "delete"
)

// Record is one sub-agent.
type Record struct {
	RunID     string  `json:"runId"`
	Key       string  `json:"key"`
	ParentKey string  `json:"parentKey"`
	ParentRun string  `json:"parentRun"`
	Label     string  `json:"label,omitempty"`
	Task      string  `json:"task"`
	Model     string  `json:"model,omitempty"`
	Thinking  string  `json:"thinking,omitempty"`
	TimeoutMs int64   `json:"timeoutMs,omitempty"`
	Cleanup   Cleanup `json:"cleanup,omitempty"`
	// What the requester's run had: a sub-agent never has more, and the answer to
	// its result goes where the requester's went.
	Owner  bool   `json:"owner,omitempty"`
	Route  string `json:"route,omitempty"`
	Sender string `json:"sender,omitempty"`
	Hops   int    `json:"hops,omitempty"`

	Order     uint64 `json:"order"`
	State     State  `json:"state"`
	Stop      bool   `json:"stop,omitempty"`    // somebody stopped it: nothing is told
	Outcome   string `json:"outcome,omitempty"` // answered, failed, aborted, interrupted
	Result    string `json:"result,omitempty"`
	CreatedAt int64  `json:"createdAt"`
	EndedAt   int64  `json:"endedAt,omitempty"`
}

// Name is what people call it.
func (r Record) Name() string {
	if r.Label != "" {
		return r.Label
	}
	line, _, _ := strings.Cut(strings.TrimSpace(r.Task), "\n")
	if runes := []rune(line); len(runes) > 60 {
		line = string(runes[:59]) + "…"
	}
	return line
}

// Open reports whether it still works, or will.
func (r Record) Open() bool { return r.State == Queued || r.State == Running }

// Limits are what the owner allows.
type Limits struct {
	Depth      int           // sub-agents below a person's session: 1 = they start none themselves
	Concurrent int           // that run at the same time; others wait
	Children   int           // of one session that have not ended
	Archive    time.Duration // after its end a kept session is archived; 0: never
}

// maxResult bounds what is told of a result.
const maxResult = 32 << 10

// forgotten is when a sub-agent is not listed any more if its session is never
// archived.
const forgotten = 24 * time.Hour

// ErrLimit wraps the refusal of one more sub-agent.
var ErrLimit = errors.New("not started")

type tables struct {
	rows store.Bucket[Record] // run id
}

// all lists every record in the order of their start.
func (t tables) all(tx *store.Tx) (out []Record, err error) {
	for row, err := range t.rows.Scan(tx, store.Range{}) {
		if err != nil {
			return nil, err
		}
		out = append(out, row.Value)
	}
	slices.SortStableFunc(out, func(a, b Record) int {
		if a.Order < b.Order {
			return -1
		}
		return 1
	})
	return out, nil
}

func (t tables) put(tx *store.Tx, r Record) error { return t.rows.Put(tx, []byte(r.RunID), r) }

// room says why there is none for one more below a session.
func room(all []Record, l Limits, parentKey string) error {
	if d := Depth(parentKey); d >= l.Depth {
		return fmt.Errorf("%w: sub-agents may be %d deep (agents.defaults.subagents.maxSpawnDepth), and this is one already; do the work here",
			ErrLimit, l.Depth)
	}
	open := 0
	for _, r := range all {
		if r.ParentKey == parentKey && r.Open() {
			open++
		}
	}
	if open >= l.Children {
		return fmt.Errorf("%w: %d sub-agents of this session have not ended yet, and no more are allowed "+
			"(agents.defaults.subagents.maxChildrenPerAgent); wait for their results", ErrLimit, open)
	}
	return nil
}
