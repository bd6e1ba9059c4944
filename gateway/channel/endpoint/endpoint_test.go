package endpoint_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint"
)

func well(context.Context) (string, error) { return "", nil }

// TestSec_A_NET_23_TakenOnce: a message that comes again is taken once, at the same
// time and after a restart too, and is answered as the first.
func TestSec_A_NET_23_TakenOnce(t *testing.T) {
	kept := &clienttest.Kept{}
	for life := range 2 {
		d := endpoint.New(endpoint.Options{Durable: kept})
		if err := d.Take(t.Context(), "1", channel.Inbound{}); err == nil {
			t.Error("a shut endpoint takes messages")
		}
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		count, ended := 0, make(chan error, 1)
		go func() {
			ended <- d.Run(ctx, func(context.Context, channel.Inbound) error {
				mu.Lock()
				defer mu.Unlock()
				count++
				return nil
			}, well)
		}()
		clienttest.Until(t, "receiving", func() bool { return d.Status().State == channel.Receiving })
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := d.Take(ctx, "1", channel.Inbound{MessageID: "1"}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		mu.Lock()
		if want := 1 - life; count != want {
			t.Errorf("life %d: it was taken %d times, want %d", life, count, want)
		}
		mu.Unlock()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestTakenInTime: a network hears nothing good while nobody takes its message, and the
// message that comes again is the one that waits.
func TestTakenInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := endpoint.New(endpoint.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		full, count := true, 0
		ended := make(chan error, 1)
		go func() {
			ended <- d.Run(ctx, func(context.Context, channel.Inbound) error {
				mu.Lock()
				defer mu.Unlock()
				if full {
					return errors.New("full")
				}
				count++
				return nil
			}, well)
		}()
		synctest.Wait()
		begun := time.Now()
		if err := d.Take(ctx, "1", channel.Inbound{}); err == nil || time.Since(begun) > 9*time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		mu.Lock()
		full = false
		mu.Unlock()
		for d.Take(ctx, "1", channel.Inbound{}) != nil {
			if time.Since(begun) > 5*time.Minute {
				t.Fatal("it is never taken")
			}
		}
		if mu.Lock(); count != 1 {
			t.Errorf("it was taken %d times", count)
		}
		full = true
		mu.Unlock()
		left := make(chan error, 1)
		go func() { left <- d.Take(t.Context(), "2", channel.Inbound{}) }()
		synctest.Wait()
		cancel()
		if err := <-left; err == nil {
			t.Error("a message is taken by an endpoint that was shut")
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestTries: an account is tried again while the network cannot be asked, and given up
// when its credential is not accepted.
func TestTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := endpoint.New(endpoint.Options{})
		answers := []error{errors.New("away"), &channel.RateLimit{After: time.Minute}, nil, channel.ErrAuth}
		var at []time.Duration
		begun := time.Now()
		err := d.Run(t.Context(), func(context.Context, channel.Inbound) error { return nil }, func(context.Context) (string, error) {
			at = append(at, time.Since(begun))
			return "a word", answers[len(at)-1]
		})
		if !errors.Is(err, channel.ErrAuth) || len(at) != 4 || at[1] != time.Second || at[2]-at[1] != time.Minute || at[3]-at[2] < time.Minute {
			t.Errorf("%v: %v", at, err)
		}
	})
}

func TestOne(t *testing.T) {
	h := http.Header{"A": {"x"}, "B": {"x", "y"}, "C": {""}}
	for _, key := range []string{"B", "C", "D"} {
		if v, ok := endpoint.One(h, key); ok {
			t.Errorf("%s: %q", key, v)
		}
	}
	if v, ok := endpoint.One(h, "a"); !ok || v != "x" {
		t.Error(v)
	}
	if a := endpoint.JSON(200, func() {}); a.Status != http.StatusInternalServerError || strings.Contains(string(a.Body), "{") {
		t.Errorf("%+v", a)
	}
}
