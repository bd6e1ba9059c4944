package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// longChat writes a conversation of n messages.
func longChat(b *testing.B, m *Manager, key string, n int) {
	b.Helper()
	words := strings.Repeat("some words of an answer ", 20)
	var all []protocol.Message
	for i := range n {
		role := []string{protocol.MessageUser, protocol.MessageAssistant}[i%2]
		all = append(all, theirs(fmt.Sprint("id", i), role, words, int64(i+1)))
	}
	if _, err := m.Take(b.Context(), Taken{Key: key, From: "there"}, all, func(*store.Tx, Row) error { return nil }); err != nil {
		b.Fatal(err)
	}
}

func benchManager(b *testing.B) *Manager {
	b.Helper()
	db, err := store.Open(b.TempDir()+"/s.db", store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close(b.Context()) })
	n := 0
	return NewManager(b.Context(), Options{DB: db, Publish: silent{}, Outbox: discard{}, NewID: func() string {
		n++
		return fmt.Sprintf("00000000-0000-4000-8000-%012x", n)
	}, Now: func() (t time.Time) { return time.UnixMilli(int64(n)) }})
}

// What opening a chat of 10,000 messages costs the gateway (budget: 100 ms with the
// page's part), and going to its other version.
func BenchmarkOpenLongChat(b *testing.B) {
	m := benchManager(b)
	longChat(b, m, benchKey, 10_000)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if h, err := m.History(b.Context(), benchKey, protocol.ChatHistoryParams{Limit: 100}); err != nil || len(h.Messages) != 100 {
				b.Fatal(err, len(h.Messages))
			}
		}
	})
	b.Run("rewind", func(b *testing.B) {
		for b.Loop() {
			if _, err := m.Rewind(b.Context(), benchKey, "id5000"); err != nil {
				b.Fatal(err)
			}
			if err := m.Switch(b.Context(), benchKey, "id9999"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// What listing and searching 10,000 chats costs, a page of 500.
func BenchmarkListManyChats(b *testing.B) {
	m := benchManager(b)
	for i := range 10_000 {
		if _, err := m.Create(b.Context(), fmt.Sprintf("agent:main:chat:%d", i), fmt.Sprintf("chat number %d", i), ""); err != nil {
			b.Fatal(err)
		}
	}
	for name, p := range map[string]protocol.SessionsListParams{
		"first": {Limit: 500}, "last": {Limit: 500, Offset: 9500}, "search": {Limit: 50, Search: "number 77"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if l, err := m.List(b.Context(), p); err != nil || len(l.Sessions) == 0 {
					b.Fatal(err)
				}
			}
		})
	}
}
