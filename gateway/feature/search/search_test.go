package search_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// What was said is found at once, after a reset, after a restart, and not after
// its session was deleted.
func TestSearchThroughResetRestartAndDelete(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Send("notes", "k1", "Buy Crème brûlée")
	p.Ended("k1")
	p.Send("work", "k2", "no cream here")
	p.Ended("k2")
	check := func(when, query, key string, want ...string) {
		t.Helper()
		if got := p.Found(query, key); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s, %q finds %q, want %q", when, query, got, want)
		}
	}
	both := []string{"agent:main:notes assistant echo: Buy Crème brûlée", "agent:main:notes user Buy Crème brûlée"}
	check("at once", "creme bru", "", both...)
	check("in another session", "creme bru", "work")
	check("in its session", "creme bru", "notes", both...)
	p.Do(protocol.MethodSessionsReset, protocol.SessionsResetParams{Key: "notes"}, nil)
	check("after a reset", "creme bru", "notes", both...)
	r.Restart()
	p = r.Connect()
	// The index is looked through once after a start; until then an answer says
	// that it is not complete.
	gatewaytest.WaitFor(t, "the index after a restart", func() bool { return len(p.Found("creme bru", "")) == len(both) })
	check("after a restart", "creme bru", "", both...)
	p.Do(protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: "notes"}, nil)
	check("deleted", "creme bru", "")
	check("the other one", "cream", "", "agent:main:work assistant echo: no cream here", "agent:main:work user no cream here")
	r.Restart()
	p = r.Connect()
	check("deleted, after a restart", "creme", "")
}

func TestSearchRefusesWhatItCannotFind(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	long := make([]byte, 2000)
	for i := range long {
		long[i] = 'x'
	}
	for _, params := range []protocol.SessionsSearchParams{{}, {Query: " ?! "}, {Query: string(long)}, {Query: "x", Key: "a\nb"}} {
		var refusal *protocol.Error
		err := p.Call(t.Context(), protocol.MethodSessionsSearch, params, nil)
		if !errors.As(err, &refusal) || refusal.Code != protocol.CodeInvalidRequest {
			t.Errorf("%.20q in %q: %v", params.Query, params.Key, err)
		}
	}
}

// A message that waits behind a running answer is found too.
func TestSearchFindsWaitingMessages(t *testing.T) {
	r := gatewaytest.New(t, "chat/fault-slowfirst-60000")
	p := r.Connect()
	p.Send("main", "k1", "first in line")
	p.Send("main", "k2", "second in line")
	if got := p.Found("line", ""); len(got) != 2 {
		t.Errorf("found %q", got)
	}
	p.Do(protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main"}, nil)
}
