package node

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// BackgroundUnavailable is what a phone answers that cannot do something until
// a person looks at it.
const BackgroundUnavailable = "NODE_BACKGROUND_UNAVAILABLE"

const (
	maxSleeping  = 64 // of one node, each kind
	defaultLife  = 10 * time.Minute
	maxLife      = 24 * time.Hour
	drainDefault = 4
	drainMost    = 10
)

// sleeper is what waits for a node to wake up.
type sleeper struct {
	actions  []action
	wishes   []protocol.NodePendingItem
	revision int64
}

type action struct {
	row     protocol.NodePulledRow
	expires time.Time
}

// repeatable reports whether a command may be done later, when nobody waits for
// it any more: it shows or reads and changes nothing.
func repeatable(command string) bool {
	return slices.Contains([]string{"canvas.present", "canvas.navigate", "canvas.hide", "canvas.a2ui.push", "canvas.a2ui.pushJSONL",
		"canvas.a2ui.reset", "location.get", "device.status", "device.info"}, command)
}

// sleepOn keeps a call for a node that could not do it in the background.
func (r *Registry) sleepOn(c *call) {
	if !repeatable(c.Command) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.sleeper(c.NodeID)
	if len(q.actions) >= maxSleeping {
		q.actions = q.actions[1:] // the newest counts
	}
	row := protocol.NodePulledRow{ID: c.id, Command: c.Command, EnqueuedAtMs: r.Now().UnixMilli()}
	if c.params != "" {
		row.ParamsJSON = &c.params
	}
	q.actions = append(q.actions, action{row, r.Now().Add(defaultLife)})
}

// sleeper is what waits for a node, without what has expired; mu is held.
func (r *Registry) sleeper(id string) *sleeper {
	q := r.sleeping[id]
	if q == nil {
		q = &sleeper{}
		r.sleeping[id] = q
	}
	now := r.Now()
	q.actions = slices.DeleteFunc(q.actions, func(a action) bool { return !now.Before(a.expires) })
	q.wishes = slices.DeleteFunc(q.wishes, func(w protocol.NodePendingItem) bool { return now.UnixMilli() >= w.ExpiresAtMs })
	return q
}

// Pull shows a node the calls that wait for it.
func (r *Registry) Pull(id string) protocol.NodePull {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := protocol.NodePull{NodeID: id, Actions: []protocol.NodePulledRow{}}
	rules := r.Policy()
	for _, a := range r.sleeper(id).actions {
		// Approvals and settings may have changed since.
		if row := r.rows[id]; row != nil && refusal(*row, a.row.Command, rules) == "" {
			out.Actions = append(out.Actions, a.row)
		}
	}
	return out
}

// Ack forgets those that a node has taken.
func (r *Registry) Ack(id string, ids []string) protocol.NodePullAck {
	r.mu.Lock()
	defer r.mu.Unlock()
	q, out := r.sleeper(id), protocol.NodePullAck{NodeID: id, AckedIDs: []string{}}
	q.actions = slices.DeleteFunc(q.actions, func(a action) bool {
		if !slices.Contains(ids, a.row.ID) {
			return false
		}
		out.AckedIDs = append(out.AckedIDs, a.row.ID)
		return true
	})
	out.Remaining = len(q.actions)
	return out
}

// Enqueue leaves a wish for a node, also for one that is not connected. The same
// wish twice is one.
func (r *Registry) Enqueue(p protocol.NodeEnqueueParams) (protocol.NodeEnqueued, error) {
	if p.Type != "status.request" && p.Type != "location.request" {
		return protocol.NodeEnqueued{}, fmt.Errorf("type is status.request or location.request, not %q", p.Type)
	}
	if p.Priority != "" && p.Priority != "normal" && p.Priority != "high" {
		return protocol.NodeEnqueued{}, fmt.Errorf("priority is normal or high, not %q", p.Priority)
	}
	life := defaultLife
	if p.ExpiresInMs != 0 {
		life = time.Duration(p.ExpiresInMs) * time.Millisecond
	}
	if life < time.Second || life > maxLife {
		return protocol.NodeEnqueued{}, fmt.Errorf("expiresInMs is from 1000 to %d", maxLife.Milliseconds())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows[p.NodeID] == nil {
		return protocol.NodeEnqueued{}, ErrUnknown
	}
	q, now := r.sleeper(p.NodeID), r.Now()
	w := protocol.NodePendingItem{
		ID: r.NewID(), Type: p.Type, Priority: cmp.Or(p.Priority, "normal"), CreatedAtMs: now.UnixMilli(), ExpiresAtMs: now.Add(life).UnixMilli(),
	}
	if i := slices.IndexFunc(q.wishes, func(o protocol.NodePendingItem) bool { return o.Type == w.Type }); i >= 0 {
		w.ID, w.CreatedAtMs = q.wishes[i].ID, q.wishes[i].CreatedAtMs
		if q.wishes[i].Priority == "high" {
			w.Priority = "high"
		}
		q.wishes[i] = w
	} else {
		q.wishes = append(q.wishes, w)
	}
	q.revision++
	return protocol.NodeEnqueued{NodeID: p.NodeID, Revision: q.revision, Queued: w}, nil
}

// Drain gives a node its wishes, urgent ones first.
func (r *Registry) Drain(id string, most int) protocol.NodeDrained {
	if most <= 0 {
		most = drainDefault
	}
	most = min(most, drainMost)
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.sleeper(id)
	slices.SortStableFunc(q.wishes, func(a, b protocol.NodePendingItem) int {
		return cmp.Compare(urgency(b.Priority), urgency(a.Priority))
	})
	n := min(most, len(q.wishes))
	out := protocol.NodeDrained{NodeID: id, Revision: q.revision, Items: append([]protocol.NodePendingItem{}, q.wishes[:n]...),
		HasMore: len(q.wishes) > n}
	q.wishes = slices.Clone(q.wishes[n:])
	return out
}

func urgency(p string) int {
	if p == "high" {
		return 1
	}
	return 0
}

// maxStats bounds what a node tells of its machine.
const maxStats = 4 << 10

// Event takes news of a node. What it claims about runs counts only for one that
// is open there, and even then nothing is done with it: the answer of the call
// says how it ended. Words of a node never begin a run.
func (r *Registry) Event(id string, conn Conn, p protocol.NodeEventParams) protocol.NodeEventResult {
	out := protocol.NodeEventResult{OK: true, Event: cut(p.Event, 128)}
	raw := p.Payload
	if p.PayloadJSON != nil {
		raw = json.RawMessage(*p.PayloadJSON)
	}
	r.mu.Lock()
	s := r.of(id, conn)
	r.mu.Unlock()
	if s == nil || !r.spend(s, len(raw)) {
		return protocol.NodeEventResult{Event: out.Event, Reason: "not connected"}
	}
	switch p.Event {
	case "node.host.stats":
		out.Handled, out.Reason = r.stats(s, raw), "updated"
	case "node.presence.alive":
		out.Handled, out.Reason = true, "updated"
		r.mu.Lock()
		s.row.LastSeenAtMs, s.row.LastSeenReason = r.Now().UnixMilli(), string(Alive)
		r.mu.Unlock()
	case "exec.started", "exec.finished", "exec.denied":
		if out.Handled, out.Reason = r.running(s, raw), "the call's own answer counts"; !out.Handled {
			out.Reason = "no such run is open on this node"
			r.alarm(s, "told of a run that is not open on it ("+p.Event+")")
		}
	default:
		out.Reason = "not supported"
	}
	if !out.Handled && out.Reason == "updated" {
		out.Reason = "not understood"
	}
	return out
}

func (r *Registry) stats(s *session, raw json.RawMessage) bool {
	var fields map[string]any
	if len(raw) > maxStats || json.Unmarshal(raw, &fields) != nil {
		return false
	}
	fields["updatedAtMs"] = r.Now().UnixMilli()
	kept, err := json.Marshal(fields)
	if err != nil {
		return false
	}
	r.mu.Lock()
	s.row.Stats = kept
	row := *s.row
	r.mu.Unlock()
	r.tell([]Change{{Kind: Stats, Row: row, Connected: true}})
	return true
}

// running reports whether a node's claim names a run of a call that is open on
// this connection.
func (r *Registry) running(s *session, raw json.RawMessage) bool {
	var claim struct {
		RunID string `json:"runId"`
	}
	if json.Unmarshal(raw, &claim) != nil || claim.RunID == "" {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range s.calls {
		if c.RunID == claim.RunID {
			return true
		}
	}
	return false
}
