package chat_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const branched = "agent:main:chat:b1"

// texts are the words of a chat, and "(2/3)" behind those that have versions.
func texts(p *gatewaytest.Peer, key string) string {
	var out []string
	for _, m := range p.History(key).Messages {
		s := m.Text()
		if v := m.Versions; v != nil {
			s += " (" + string(rune('0'+v.At)) + "/" + string(rune('0'+len(v.Entries))) + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

func again(p *gatewaytest.Peer, id string, entry protocol.Message, words *string) {
	p.T.Helper()
	p.Do(protocol.MethodChatAgain,
		protocol.ChatAgainParams{SessionKey: branched, EntryID: entry.Meta.ID, Message: words, IdempotencyKey: id}, nil)
	p.Do(protocol.MethodAgentWait, protocol.AgentWaitParams{RunID: id, TimeoutMs: 20_000}, nil)
}

// A message is edited and answered again, the versions are reached, and history, search
// and export see the one that is in use.
func TestAMessageIsEditedAndAnsweredAgain(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Say(branched, "a", "first apple")
	p.Say(branched, "b", "second apple")
	h := p.History(branched)
	words := "second cherry"
	again(p, "c", h.Messages[2], &words)
	if got, want := texts(p, branched), "first apple | echo: first apple | second cherry (2/2) | echo: second cherry"; got != want {
		t.Fatalf("edited: %q, want %q", got, want)
	}
	again(p, "d", p.History(branched).Messages[3], nil)
	now := p.History(branched)
	if got, want := texts(p, branched), "first apple | echo: first apple | second cherry (3/3) | echo: second cherry"; got != want {
		t.Fatalf("regenerated: %q, want %q", got, want)
	}
	var found protocol.SessionsSearch
	p.Do(protocol.MethodSessionsSearch, protocol.SessionsSearchParams{Query: "second apple"}, &found)
	if len(found.Results) != 0 {
		t.Errorf("the search finds another branch: %+v", found.Results)
	}
	p.Do(protocol.MethodBranchesSwitch,
		protocol.BranchSwitchParams{SessionKey: branched, LeafEntryID: now.Messages[2].Versions.Entries[0]}, nil)
	if got, want := texts(p, branched), "first apple | echo: first apple | second apple (1/3) | echo: second apple"; got != want {
		t.Errorf("back: %q, want %q", got, want)
	}
	if after := p.History(branched); after.Branch == now.Branch {
		t.Errorf("both branches are called %q", now.Branch)
	}
	p.Do(protocol.MethodSessionsSearch, protocol.SessionsSearchParams{Query: "second apple"}, &found)
	if len(found.Results) != 2 {
		t.Errorf("the search does not find the branch in use: %+v", found.Results)
	}
	var list protocol.BranchesList
	p.Do(protocol.MethodBranchesList, protocol.BranchesParams{SessionKey: branched}, &list)
	if len(list.Branches) != 3 || list.Branches[0].Active || !list.Branches[2].Active || list.Branches[0].Headline != "second cherry" {
		t.Errorf("branches: %+v", list.Branches)
	}
	var fork protocol.ForkResult
	p.Do(protocol.MethodSessionsFork, protocol.EntryParams{SessionKey: branched, EntryID: h.Messages[2].Meta.ID}, &fork)
	if fork.EditorText != "second apple" || texts(p, fork.SessionKey) != "first apple | echo: first apple" {
		t.Errorf("forked: %+v, %q", fork, texts(p, fork.SessionKey))
	}
	p.Say(fork.SessionKey, "e", "elsewhere")
	if texts(p, branched) != "first apple | echo: first apple | second apple (1/3) | echo: second apple" {
		t.Error("a chat that branched off changed the one it came from")
	}
	var back protocol.RewindResult
	p.Do(protocol.MethodSessionsRewind, protocol.EntryParams{SessionKey: branched, EntryID: h.Messages[0].Meta.ID}, &back)
	if back.EditorText != "first apple" || texts(p, branched) != "" {
		t.Errorf("gone back: %+v, %q", back, texts(p, branched))
	}
}

// What cannot be answered again says why.
func TestWhatCannotBeAnsweredAgain(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Say(branched, "a", "a question")
	p.Say(branched, "s", "/status")
	p.Do(protocol.MethodChatInject, protocol.ChatInjectParams{SessionKey: branched, Message: "by the way"}, nil)
	msgs := p.History(branched).Messages
	command := "/new"
	for _, tc := range []struct {
		name, entry, code string
		words             *string
	}{
		{"a command in its place", msgs[0].Meta.ID, "COMMAND", &command},
		{"a command", msgs[2].Meta.ID, "NO_QUESTION", nil},
		{"a note", msgs[len(msgs)-1].Meta.ID, "NO_QUESTION", nil},
		{"nothing", "00000000-0000-4000-8000-00000000ffff", "NOT_FOUND", nil},
	} {
		err := p.Call(t.Context(), protocol.MethodChatAgain,
			protocol.ChatAgainParams{SessionKey: branched, EntryID: tc.entry, Message: tc.words, IdempotencyKey: "again"}, nil)
		var refusal *protocol.Error
		if !errors.As(err, &refusal) || refusal.Details["code"] != tc.code {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.code)
		}
	}
	if got := len(p.History(branched).Messages); got != len(msgs) {
		t.Errorf("%d messages, there were %d", got, len(msgs))
	}
}
