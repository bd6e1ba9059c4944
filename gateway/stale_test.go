package gateway_test

import (
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// session.md, "Lifecycle": a session is used until it expires, by default at
// four in the morning, and expiry is looked at when the next message comes.
func TestOldSessionBeginsAnew(t *testing.T) {
	var later atomic.Int64
	r := &rig{t: t, dir: statedir.Dir(t.TempDir()), model: scripted.New()}
	r.now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	srv := httptest.NewServer(r.model)
	t.Cleanup(srv.Close)
	r.url = srv.URL
	writeConfig(t, r.dir, srv.URL, "chat/echo")
	r.start()
	p := r.connect()
	p.say("main", "a", "yesterday")
	first := p.history("main").SessionID
	r.rested(p)
	later.Store(int64(25 * time.Hour))
	if h := p.history("main"); h.SessionID != first || len(h.Messages) != 2 {
		t.Errorf("looking at an old session changed it: %+v", h)
	}
	p.say("main", "b", "today")
	h := p.history("main")
	if h.SessionID == first || len(h.Messages) != 2 || h.Messages[0].Text() != "today" {
		t.Errorf("the day after: %+v", h)
	}
	p.say("main", "c", "at once")
	if again := p.history("main"); again.SessionID != h.SessionID || len(again.Messages) != 4 {
		t.Errorf("a second message of the day: %+v", again)
	}
}

// rested waits until no answer is under way: the event of its end comes a
// moment before.
func (r *rig) rested(p *peer) {
	r.t.Helper()
	for {
		var list protocol.SessionsList
		p.call(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
		if !slices.ContainsFunc(list.Sessions, func(s protocol.SessionRow) bool { return s.HasActiveRun || s.QueuedRuns > 0 }) {
			return
		}
		if r.t.Context().Err() != nil {
			r.t.Fatal("an answer does not end")
		}
	}
}
