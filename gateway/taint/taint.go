// Package taint follows text from outside into what an answer does: which runs
// have read such text, and what they changed of the files that later prompts and
// programs obey (AGENTS.md, a Makefile). Such a change is asked for in a run that
// is tainted, by the tool that makes it, and told to the person in every other.
// The marks around text from outside are package untrusted's.
package taint

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// Sessions are where runs come from, and where people read of them.
type Sessions interface {
	// Why is the record of a run.
	Why(key, runID string) (session.Run, error)
	// Inject writes into a conversation.
	Inject(ctx context.Context, key, text, label string) (*protocol.Message, error)
}

// Owner is where the owner wrote what led to a run.
type Owner interface{ Tell(runID, text string) }

// Audit is what keeps what was done.
type Audit interface{ Add(e audit.Entry) }

// Options are the parts that a Tracker needs; all of them.
type Options struct {
	Sessions Sessions
	Owner    Owner
	Audit    Audit
	Work     *background.Group
	Logger   *slog.Logger
}

// Tracker is safe for concurrent use.
type Tracker struct {
	o    Options
	read runs // have read text from outside

	mu      sync.Mutex
	changed map[string]*changes // by run, until they are told
}

// changes are those of one run.
type changes struct {
	call  tool.Call // the first that made one
	names []string
}

// New returns a tracker that knows of no run.
func New(o Options) *Tracker { return &Tracker{o: o, changed: map[string]*changes{}} }

// Mark notes that a run has read text from outside.
func (t *Tracker) Mark(runID string) { t.read.add(runID) }

// After hears what a tool said to a run.
func (t *Tracker) After(_ string, call tool.Call, text string) {
	if untrusted.Marked(text) {
		t.Mark(call.RunID)
	}
}

// Outside reports whether what makes a call has read text from outside, or comes
// of words that the owner did not say here.
func (t *Tracker) Outside(call tool.Call) bool {
	if !call.Owner || call.Group || call.Relayed || call.Depth > 0 || t.read.has(call.RunID) {
		return true
	}
	rec, err := t.o.Sessions.Why("", call.RunID)
	return err == nil && rec.Outside // the message itself was passed on
}

// Changed remembers a change of what is obeyed later, for the end of the run.
func (t *Tracker) Changed(call tool.Call, rel string) {
	rel = plan.Show(filepath.ToSlash(rel))
	t.o.Audit.Add(audit.Entry{
		Kind: audit.KindTool, What: "changed " + rel + ", which later answers or programs obey", Session: call.SessionKey, Run: call.RunID,
		Facts: map[string]string{"path": rel, "call": call.ID},
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.changed[call.RunID]
	if c == nil {
		c = &changes{call: call}
		t.changed[call.RunID] = c
	}
	if !slices.Contains(c.names, rel) {
		c.names = append(c.names, rel)
	}
}

// Noted hears of a note in the memory: it is a change for later where the run has
// read text from outside.
func (t *Tracker) Noted(call tool.Call, rel string) {
	if t.read.has(call.RunID) {
		t.Changed(call, rel)
	}
}

// Over forgets a run that has ended, and tells what it changed.
func (t *Tracker) Over(_ context.Context, runID string) {
	t.read.over(runID)
	t.mu.Lock()
	c := t.changed[runID]
	delete(t.changed, runID)
	t.mu.Unlock()
	if c != nil && !t.o.Work.Closed() {
		t.o.Work.Go(func(ctx context.Context) { t.tell(ctx, c) })
	}
}

// tell is one line in the conversation, and where the owner wrote.
func (t *Tracker) tell(ctx context.Context, c *changes) {
	text := c.words()
	if _, err := t.o.Sessions.Inject(ctx, c.call.SessionKey, text, "Changed for later"); err != nil {
		t.o.Logger.Warn("a change of what is obeyed later could not be told", "session", c.call.SessionKey, "err", err)
	}
	if c.call.Owner {
		t.o.Owner.Tell(c.call.RunID, text)
	}
}

// namesTold is how many files are named; the rest is counted.
const namesTold = 6

func (c *changes) words() string {
	names := c.names[:min(namesTold, len(c.names))]
	list := strings.Join(names, ", ")
	if more := len(c.names) - len(names); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return "This answer changed " + list + ": later answers, or programs, go by that. `hearth undo " + c.call.RunID + "` takes it back."
}
