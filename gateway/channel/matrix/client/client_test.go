//go:build goolm

package client_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix"
	"github.com/hearth-assistant/hearth/gateway/channel/matrix/client"
)

func account(server string, change func(*channel.Account)) channel.Account {
	a := channel.Account{
		ID: "default", Now: time.Now, Logger: slog.New(slog.DiscardHandler), Secrets: map[string]string{matrix.KeyPassword: "secret word"},
		Texts: map[string]string{
			matrix.KeyServer: server, matrix.KeyUser: "@hearth:test.local", matrix.KeyInviters: "@ada:test.local",
		},
		Durable: &durable{kept: map[string][]byte{}},
	}
	if change != nil {
		change(&a)
	}
	return a
}

func open(t *testing.T, a channel.Account) *client.Client {
	t.Helper()
	c, err := client.New(a)
	if err != nil {
		t.Fatal(err)
	}
	c.Hurry()
	return c
}

// during runs a client until a context ends.
func during(ctx context.Context, c *client.Client) (got <-chan channel.Inbound, ended <-chan error) {
	in, end := make(chan channel.Inbound, 16), make(chan error, 1)
	go func() {
		end <- c.Run(ctx, func(ctx context.Context, m channel.Inbound) error {
			select {
			case in <- m:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		close(end)
	}()
	return in, end
}

// running runs a client until the test ends, and hands over what comes.
func running(t *testing.T, c *client.Client) (got <-chan channel.Inbound, ended <-chan error, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error, 1)
	got, over := during(ctx, c)
	done := make(chan struct{})
	go func() {
		defer close(done)
		end <- <-over
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return got, end, stop
}

func until(t *testing.T, what string, holds func() bool) {
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

func say(t *testing.T, c channel.Channel, to, text string) error {
	_, err := c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: to}, Text: text})
	return err
}

func tell(t *testing.T, c channel.Channel, to, text string) string {
	t.Helper()
	r, err := c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: to}, Text: text})
	if err != nil {
		t.Fatalf("%q to %s: %v", text, to, err)
	}
	return r.MessageID
}

// hear waits for a message.
func hear(t *testing.T, got <-chan channel.Inbound, want string) channel.Inbound {
	t.Helper()
	select {
	case in := <-got:
		if in.Text != want {
			t.Fatalf("%+v, want %q", in, want)
		}
		return in
	case <-time.After(60 * time.Second):
		t.Fatalf("%q was not heard", want)
		return channel.Inbound{}
	}
}

func connected(c *client.Client) func() bool {
	return func() bool { return c.Status().State == channel.Receiving }
}

type durable struct {
	mu   sync.Mutex
	kept map[string][]byte
	fail error
}

func (d *durable) Get(_ context.Context, key string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept[key], nil
}

func (d *durable) Put(_ context.Context, key string, value []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return d.fail
	}
	d.kept[key] = value
	return nil
}

// copied is a backup.
func (d *durable) copied() *durable {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := &durable{kept: map[string][]byte{}}
	for k, v := range d.kept {
		out.kept[k] = v
	}
	return out
}
