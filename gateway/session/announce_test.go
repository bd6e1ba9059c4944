package session

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// shownRows remembers what was published of sessions. It takes its time over what was
// accepted, so that the run could begin meanwhile.
type shownRows struct {
	silent
	mu   sync.Mutex
	list []protocol.SessionsChanged
}

func (s *shownRows) SessionChanged(ev protocol.SessionsChanged) {
	if ev.Reason == "send" {
		<-time.After(3 * time.Millisecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, ev)
}

// A client believes the last event. So what is said of one run comes in order, and
// each event says what the session does after it, and not what it did before the
// one that went out already.
func TestSessionEventsLeaveInTheOrderOfWhatTheySay(t *testing.T) {
	b := newBench(t, func(_ context.Context, _ int, _ model.Request, yield func(model.Event) bool) { say(yield, "yes") }, nil,
		policy(Followup))
	defer b.close()
	var seen shownRows
	b.Subscribe(Subscriber{Publish: &seen})
	const turns = 30
	for i := range turns {
		id := fmt.Sprintf("r%d", i)
		b.must(id, "and?")
		if i%3 == 0 { // some find the session idle, others busy
			b.wait(id)
		}
	}
	b.wait(fmt.Sprintf("r%d", turns-1))
	b.Manager.work.Wait()
	steps := map[string]string{}
	var last protocol.SessionsChanged
	for _, ev := range seen.list {
		steps[ev.RunID] += ev.Reason + ev.Phase + " "
		if ev.Session == nil || ev.Session.SnapshotAt < 1 {
			t.Fatalf("an event without its session: %+v", ev)
		}
		if r := ev.Session; r.HasActiveRun != (len(r.ActiveRunIDs) == 1) || r.HasActiveRun && r.LastRunID != "" {
			t.Errorf("active %v, runs %q, last %q", r.HasActiveRun, r.ActiveRunIDs, r.LastRunID)
		}
		if ev.Reason == "send" && !ev.Session.HasActiveRun {
			t.Errorf("%s was accepted, and its session counts as idle", ev.RunID)
		}
		if ev.Phase == "start" && ev.Session.ActiveRunID != ev.RunID {
			t.Errorf("start of %s says that %q is active", ev.RunID, ev.Session.ActiveRunID)
		}
		last = ev
	}
	for i := range turns {
		if id := fmt.Sprintf("r%d", i); steps[id] != "send start end " {
			t.Errorf("run %s was shown as %q", id, steps[id])
		}
	}
	if r := last.Session; r.HasActiveRun || r.QueuedRuns != 0 || r.LastRunID != fmt.Sprintf("r%d", turns-1) {
		t.Errorf("the last event says %+v", r)
	}
	h, err := b.History(t.Context(), benchKey, protocol.ChatHistoryParams{})
	if err != nil || h.SessionInfo == nil || h.SessionInfo.HasActiveRun || h.SessionInfo.LastRunID != last.Session.LastRunID {
		t.Errorf("the history says %+v, %v", h.SessionInfo, err)
	}
}
