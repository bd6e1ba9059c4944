package gateway_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// found searches and tells what was found: "key role text".
func (p *peer) found(query, key string) (out []string) {
	p.t.Helper()
	var res protocol.SessionsSearch
	p.call(protocol.MethodSessionsSearch, protocol.SessionsSearchParams{Query: query, Key: key}, &res)
	for _, h := range res.Results {
		out = append(out, fmt.Sprintf("%s %s %s", h.SessionKey, h.Role, h.Snippet))
	}
	return out
}

// What was said is found at once, after a reset, after a restart, and not after
// its session was deleted.
func TestSearchThroughResetRestartAndDelete(t *testing.T) {
	r := newRig(t, "chat/echo")
	p := r.connect()
	p.send("notes", "k1", "Buy Crème brûlée")
	p.ended("k1")
	p.send("work", "k2", "no cream here")
	p.ended("k2")
	check := func(when, query, key string, want ...string) {
		t.Helper()
		if got := p.found(query, key); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s, %q finds %q, want %q", when, query, got, want)
		}
	}
	both := []string{"agent:main:notes assistant echo: Buy Crème brûlée", "agent:main:notes user Buy Crème brûlée"}
	check("at once", "creme bru", "", both...)
	check("in another session", "creme bru", "work")
	check("in its session", "creme bru", "notes", both...)
	p.call(protocol.MethodSessionsReset, protocol.SessionsResetParams{Key: "notes"}, nil)
	check("after a reset", "creme bru", "notes", both...)
	r.restart()
	p = r.connect()
	// The index is looked through once after a start; until then an answer says
	// that it is not complete.
	waitFor(t, "the index after a restart", func() bool { return len(p.found("creme bru", "")) == len(both) })
	check("after a restart", "creme bru", "", both...)
	p.call(protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: "notes"}, nil)
	check("deleted", "creme bru", "")
	check("the other one", "cream", "", "agent:main:work assistant echo: no cream here", "agent:main:work user no cream here")
	r.restart()
	p = r.connect()
	check("deleted, after a restart", "creme", "")
}

func TestSearchRefusesWhatItCannotFind(t *testing.T) {
	r := newRig(t, "chat/echo")
	p := r.connect()
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
	r := newRig(t, "chat/fault-slowfirst-60000")
	p := r.connect()
	p.send("main", "k1", "first in line")
	p.send("main", "k2", "second in line")
	if got := p.found("line", ""); len(got) != 2 {
		t.Errorf("found %q", got)
	}
	p.call(protocol.MethodChatAbort, protocol.ChatAbortParams{SessionKey: "main"}, nil)
}
