// Package clienttest runs a network's client in its tests: the gateway's store in memory,
// the client until the test ends, and what comes in. It knows no network.
package clienttest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Kept is the gateway's store in memory. It implements channel.Durable.
type Kept struct {
	mu sync.Mutex
	m  map[string][]byte
}

// Get reads a value.
func (k *Kept) Get(_ context.Context, key string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.m[key], nil
}

// Put keeps a value.
func (k *Kept) Put(_ context.Context, key string, value []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.m == nil {
		k.m = map[string][]byte{}
	}
	k.m[key] = value
	return nil
}

// Running runs a channel until the test ends, and returns what comes in when it
// receives.
func Running(t *testing.T, ch channel.Channel) <-chan channel.Inbound {
	t.Helper()
	got := make(chan channel.Inbound, 1000)
	Serving(t, ch, func(_ context.Context, in channel.Inbound) error { got <- in; return nil })
	return got
}

// Started runs a channel until the test ends or stop is called, and does not wait for it.
func Started(t *testing.T, ch channel.Channel) (got <-chan channel.Inbound, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	in, end := make(chan channel.Inbound, 20_000), make(chan error, 1)
	go func() { end <- ch.Run(ctx, func(_ context.Context, m channel.Inbound) error { in <- m; return nil }) }()
	var once sync.Once
	var err error
	stop = func() error {
		once.Do(func() { cancel(); err = <-end })
		return err
	}
	t.Cleanup(func() { _ = stop() })
	return in, stop
}

// Connected is Started that waits until the channel receives.
func Connected(t *testing.T, ch channel.Channel) (got <-chan channel.Inbound, stop func() error) {
	t.Helper()
	got, stop = Started(t, ch)
	untilReceiving(t, ch)
	return got, stop
}

func untilReceiving(t *testing.T, ch channel.Channel) {
	t.Helper()
	r, ok := ch.(channel.Reporter)
	if !ok {
		t.Fatal("it does not say how it is")
	}
	Until(t, "receiving", func() bool { return r.Status().State == channel.Receiving })
}

// Serving runs a channel until the test ends, and returns when it receives.
func Serving(t *testing.T, ch channel.Channel, inbox channel.Inbox) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- ch.Run(ctx, inbox) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with: %v", err)
		}
	})
	untilReceiving(t, ch)
}

// Until waits until something holds.
func Until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(2*time.Millisecond), time.After(60*time.Second)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal(what, "did not happen")
		}
	}
}

// Next is the next message.
func Next(t *testing.T, got <-chan channel.Inbound) channel.Inbound {
	t.Helper()
	select {
	case in := <-got:
		return in
	case <-time.After(60 * time.Second):
		t.Fatal("nothing came in")
		return channel.Inbound{}
	}
}
