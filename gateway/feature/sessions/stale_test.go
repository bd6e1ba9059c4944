package sessions_test

import (
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// laterRig is a gateway whose clock a test moves on.
func laterRig(t *testing.T, later *atomic.Int64) *gatewaytest.Rig {
	t.Helper()
	r := &gatewaytest.Rig{T: t, Dir: statedir.Dir(t.TempDir()), Model: scripted.New()}
	r.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	srv := httptest.NewServer(r.Model)
	t.Cleanup(srv.Close)
	r.ModelURL = srv.URL
	gatewaytest.WriteConfig(t, r.Dir, srv.URL, "chat/echo")
	r.Start()
	return r
}

// A chat that somebody made, and the home chat, stay as they are over night:
// only a rule that somebody wrote begins the home chat anew.
func TestOwnChatsNeverEmptyThemselves(t *testing.T) {
	var later atomic.Int64
	r := laterRig(t, &later)
	p := r.Connect()
	goesOn := func(when, key, id string, anew bool) {
		t.Helper()
		before := p.History(key)
		rested(r, p)
		later.Add(int64(25 * time.Hour))
		p.Say(key, id, "the day after")
		h := p.History(key)
		if got := h.SessionID != before.SessionID; got != anew || (h.Messages[0].Text() == "the day after") != anew {
			t.Errorf("%s, %s began anew: %v, want %v", when, key, got, anew)
		}
	}
	const mine = "agent:main:chat:3f0c"
	p.Say("main", "a1", "yesterday at home")
	p.Say(mine, "a2", "What is in this picture?")
	goesOn("with nothing written", "main", "b1", false)
	goesOn("with nothing written", mine, "b2", false)
	p.Patch(map[string]any{"session": map[string]any{"reset": map[string]any{"mode": "idle", "idleMinutes": 1}}})
	goesOn("with session.reset", "main", "c1", true)
	goesOn("with session.reset", mine, "c2", false)
}

// Lifecycle: a session is used until it expires, and expiry is
// looked at when the next message comes.
func TestOldSessionBeginsAnew(t *testing.T) {
	var later atomic.Int64
	r := laterRig(t, &later)
	p := r.Connect()
	p.Patch(map[string]any{"session": map[string]any{"reset": map[string]any{"mode": "daily", "atHour": 4}}})
	p.Say("main", "a", "yesterday")
	first := p.History("main").SessionID
	rested(r, p)
	later.Store(int64(25 * time.Hour))
	if h := p.History("main"); h.SessionID != first || len(h.Messages) != 2 {
		t.Errorf("looking at an old session changed it: %+v", h)
	}
	p.Say("main", "b", "today")
	h := p.History("main")
	if h.SessionID == first || len(h.Messages) != 2 || h.Messages[0].Text() != "today" {
		t.Errorf("the day after: %+v", h)
	}
	if e := h.Earlier; e == nil || e.SessionID != first || e.Messages != 2 {
		t.Errorf("nothing says what stood here before: %+v", e)
	}
	p.Say("main", "c", "at once")
	if again := p.History("main"); again.SessionID != h.SessionID || len(again.Messages) != 4 {
		t.Errorf("a second message of the day: %+v", again)
	}
}

// rested waits until no answer is under way: the event of its end comes a
// moment before.
func rested(r *gatewaytest.Rig, p *gatewaytest.Peer) {
	r.T.Helper()
	for {
		var list protocol.SessionsList
		p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
		if !slices.ContainsFunc(list.Sessions, func(s protocol.SessionRow) bool { return s.HasActiveRun || s.QueuedRuns > 0 }) {
			return
		}
		if r.T.Context().Err() != nil {
			r.T.Fatal("an answer does not end")
		}
	}
}
