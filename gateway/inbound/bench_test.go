package inbound

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/store"
)

type signal chan struct{}

func (s signal) Submit(context.Context, Accepted) error { s <- struct{}{}; return nil }

// BenchmarkReceive is one message from the network to its session, durable.
func BenchmarkReceive(b *testing.B) {
	db, err := store.Open(filepath.Join(b.TempDir(), "h.db"), store.Options{ReserveBytes: -1})
	if err != nil {
		b.Fatal(err)
	}
	got := make(signal, 1)
	n := 0
	g := New(Options{
		DB: db, Contacts: contact.New(db, time.Now, rand.Reader), Sessions: got, Logger: slog.New(slog.DiscardHandler),
		Settings: func() Settings { return Settings{} }, Policy: func(string, string) Policy { return Policy{DM: DMOpen} },
		Now: time.Now, Local: time.UTC, NewID: func() string { n++; return fmt.Sprint(n) },
	})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error)
	go func() { done <- g.Run(ctx) }()
	i := 0
	for b.Loop() {
		i++
		if err := g.Receive(ctx, dm(fmt.Sprint(i), fmt.Sprintf("message %d", i))); err != nil {
			b.Fatal(err)
		}
		<-got
	}
	cancel()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	_ = db.Close(b.Context())
}
