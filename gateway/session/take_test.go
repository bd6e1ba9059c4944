package session

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

func theirs(id, role, text string, at int64) protocol.Message {
	return protocol.Message{Role: role, Content: protocol.TextBlocks(text), Timestamp: at, Meta: &protocol.MessageMeta{ID: id}}
}

func nothingMore(*store.Tx, Row) error { return nil }

// Words of another program have their dates and order, go on where they ended, and
// what is answered to them is tainted until the conversation begins anew.
func TestSec_TakenWordsAreFromOutside(t *testing.T) {
	b := newBench(t, work, nil, policy(Steer))
	defer b.close()
	const key = "agent:main:there:1"
	to := Taken{Key: key, From: "there", CreatedAt: 1000}
	row, err := b.Take(t.Context(), to, []protocol.Message{
		theirs("a", protocol.MessageAssistant, "hello", 1000), theirs("b", protocol.MessageUser, "what is up", 2000),
		theirs("c", protocol.MessageAssistant, "not much", 3000),
	}, nothingMore)
	if err != nil || row.CreatedAt != 1000 || row.UpdatedAt != 3000 || row.Messages != 3 || row.Title != "what is up" {
		t.Fatalf("%+v, %v", row, err)
	}
	to.SessionID = row.SessionID
	if _, err = b.Take(t.Context(), to, []protocol.Message{theirs("d", protocol.MessageAssistant, "later", 4000)}, nothingMore); err != nil {
		t.Fatal(err)
	}
	h, err := b.History(t.Context(), key, protocol.ChatHistoryParams{})
	var said string
	for _, m := range h.Messages {
		said += fmt.Sprintf("%d.%d %s %s|", m.Meta.Seq>>16, m.Meta.Seq&0xffff, m.Meta.ID, m.Text())
	}
	if want := "1.0 a hello|2.0 b what is up|2.1 c not much|3.0 d later|"; err != nil || said != want {
		t.Errorf("%s, want %s, %v", said, want, err)
	}
	ids, there, err := b.Held(key, row.SessionID)
	if err != nil || !there || len(ids) != 4 || !ids["d"] {
		t.Errorf("%v %v %v", ids, there, err)
	}
	outside := func(run string) bool {
		t.Helper()
		acc, err := b.Submit(t.Context(), Turn{SessionKey: key, RunID: run, Text: "go on", Owner: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Wait(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		return acc.Run.Outside
	}
	if !outside("k1") {
		t.Error("an answer to others' words is not from outside")
	}
	if _, err := b.Reset(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if outside("k2") {
		t.Error("a conversation that was begun anew is still from outside")
	}
	_, err = b.Take(t.Context(), to, []protocol.Message{theirs("e", protocol.MessageUser, "too late", 5000)}, nothingMore)
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("words were put into a conversation that was begun anew: %v", err)
	}
	if _, there, err := b.Held(key, row.SessionID); there || err != nil {
		t.Errorf("it is held still: %v", err)
	}
}
