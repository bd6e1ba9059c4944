package intake_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/intake"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

type store struct {
	mu sync.Mutex
	m  map[string][]byte
}

func (s *store) Get(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[key], nil
}

func (s *store) Put(_ context.Context, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[key] = value
	return nil
}

// TestQueue: in order, once, again until it was taken, and remembered by the next one.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{m: map[string][]byte{}}
		o := intake.Options{Durable: s, Logger: slog.New(slog.DiscardHandler)}
		q := intake.New(o)
		if err := q.Remember(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, begun := q.Since(10); begun {
			t.Error("it has begun")
		}
		if err := q.Begin(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
		var got []string
		refuse := 2
		ctx, cancel := context.WithCancel(t.Context())
		go q.Hand(ctx, func(_ context.Context, in channel.Inbound) error {
			if in.Text == "m1" && refuse > 0 {
				refuse--
				return errors.New("the store is full")
			}
			got = append(got, in.Text)
			return nil
		})
		for _, n := range []int{0, 1, 2, 1, 0} {
			id := fmt.Sprint("m", n)
			if err := q.Add(intake.Item{ID: id, Mark: int64(200 + n), In: channel.Inbound{Text: id}}); err != nil {
				t.Fatal(err)
			}
		}
		_ = sleep.For(ctx, time.Minute) // of the bubble: longer than the pauses before another offer
		synctest.Wait()
		cancel()
		if strings.Join(got, " ") != "m0 m1 m2" {
			t.Errorf("%q came", got)
		}
		next := intake.New(o)
		if err := next.Remember(t.Context()); err != nil {
			t.Fatal(err)
		}
		if since, begun := next.Since(50); since != 152 || !begun || !next.Seen("m1") || next.Seen("m3") {
			t.Errorf("the next one begins at %d, %v", since, begun)
		}
		if since, _ := next.Since(500); since != 100 {
			t.Errorf("%d is before the beginning", since)
		}
		s.m["mark"] = []byte("damaged")
		if intake.New(o).Remember(t.Context()) == nil {
			t.Error("a damaged mark was read")
		}
	})
}
