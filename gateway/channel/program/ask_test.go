package program_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
)

// asker is a channel that asks what it is told to.
type asker struct {
	*loopback.Channel
	mu   sync.Mutex
	ask  channel.Ask
	said []string // what a person said of what they compared
}

func (a *asker) Confirm(_ context.Context, value string, yes bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if value != a.ask.Value {
		return fmt.Errorf("%w: that question is over", channel.ErrRefused)
	}
	a.said = append(a.said, fmt.Sprint(value, " ", yes))
	return nil
}

func (a *asker) Asking() channel.Ask {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ask
}

func (a *asker) asks(kind channel.AskKind, value string, within time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ask = channel.Ask{Kind: kind, Value: value, Words: "Do it.", Until: time.Now().Add(within)}
}

// TestAsk: what a program asks of a person is known here until it is replaced, taken
// back, over, or the program has ended.
func TestAsk(t *testing.T) {
	a := &asker{Channel: loopback.NewNet().Channel("loopback", "default", limits)}
	c := open(t, channel.Account{Launch: launch(t, serves(a))})
	if got := c.Asking(); got.Kind != "" {
		t.Errorf("before it runs it asks %+v", got)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx, func(context.Context, channel.Inbound) error { return nil }) }()
	a.asks(channel.AskQR, "2@first", time.Minute)
	until(t, "the first", func() bool { return c.Asking().Value == "2@first" && c.Asking().Words == "Do it." })
	a.asks(channel.AskCode, "ABCD-1234", time.Minute)
	until(t, "the second", func() bool { return c.Asking().Kind == channel.AskCode })
	a.asks(channel.AskURL, "javascript:alert(1)", time.Minute)
	until(t, "nothing in the place of what cannot be shown", func() bool { return c.Asking() == channel.Ask{} })
	a.asks(channel.AskText, "🐶 🐱 🐭", 300*time.Millisecond)
	until(t, "the fourth", func() bool { return c.Asking().Kind == channel.AskText })
	until(t, "its end", func() bool { return c.Asking() == channel.Ask{} })
	a.asks(channel.AskQR, "2@last", time.Minute)
	until(t, "the last", func() bool { return c.Asking().Value == "2@last" })
	stop()
	if err := <-ended; err != nil || c.Asking().Kind != "" {
		t.Errorf("%v; after its end it asks %+v", err, c.Asking())
	}
}

// TestConfirm: what a person says of what they compared reaches the program, with what they saw.
func TestConfirm(t *testing.T) {
	a := &asker{Channel: loopback.NewNet().Channel("loopback", "default", limits)}
	c := open(t, channel.Account{Launch: launch(t, serves(a))})
	running(t, c, func(context.Context, channel.Inbound) error { return nil })
	a.asks(channel.AskConfirm, "🐶 Dog, 🐱 Cat", time.Minute)
	until(t, "the question", func() bool { return c.Asking().Kind == channel.AskConfirm })
	if err := c.Confirm(t.Context(), "🐶 Dog, 🐷 Pig", true); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("what was not shown: %v", err)
	}
	for _, yes := range []bool{true, false} {
		if err := c.Confirm(t.Context(), c.Asking().Value, yes); err != nil {
			t.Error(err)
		}
	}
	if got := fmt.Sprint(a.said); got != "[🐶 Dog, 🐱 Cat true 🐶 Dog, 🐱 Cat false]" {
		t.Error(got)
	}
	other := open(t, channel.Account{Launch: launch(t, serves(loopback.NewNet().Channel("loopback", "default", limits)))})
	running(t, other, func(context.Context, channel.Inbound) error { return nil })
	until(t, "its start", func() bool { return other.Status().State == channel.Receiving })
	if err := other.Confirm(t.Context(), "x", true); err == nil {
		t.Error("a program that asks for no comparison takes an answer")
	}
}

// logging is a channel that asks something only when a person wants to log it in.
type logging struct{ *asker }

func (l logging) Login(context.Context) error {
	if l.Asking().Kind != "" {
		return fmt.Errorf("%w: it asks already", channel.ErrRefused)
	}
	l.asks(channel.AskDecide, "EsTc LW2K", time.Minute)
	return nil
}

// TestLogin: what a program asks when a person wants to log it in is known when it has
// answered; one that knows no such request asks for nothing.
func TestLogin(t *testing.T) {
	asks := logging{&asker{Channel: loopback.NewNet().Channel("loopback", "default", limits)}}
	c := open(t, channel.Account{Launch: launch(t, serves(asks))})
	running(t, c, func(context.Context, channel.Inbound) error { return nil })
	until(t, "its start", func() bool { return c.Status().State == channel.Receiving })
	if err := c.Login(t.Context()); err != nil || c.Asking().Kind != channel.AskDecide || c.Asking().Value != "EsTc LW2K" {
		t.Errorf("%+v: %v", c.Asking(), err)
	}
	if err := c.Login(t.Context()); !errors.Is(err, channel.ErrRefused) || !strings.Contains(err.Error(), "it asks already") {
		t.Errorf("what it refuses: %v", err)
	}
	other := open(t, channel.Account{Launch: launch(t, serves(loopback.NewNet().Channel("loopback", "default", limits)))})
	running(t, other, func(context.Context, channel.Inbound) error { return nil })
	until(t, "its start", func() bool { return other.Status().State == channel.Receiving })
	if err := other.Login(t.Context()); err != nil || other.Asking().Kind != "" {
		t.Errorf("%+v: %v", other.Asking(), err)
	}
}

// TestSec_A_CH_AskFlood: of many asks the newest is left, and a program that asks
// without end is ended.
func TestSec_A_CH_AskFlood(t *testing.T) {
	ask := func(n int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"ask","params":{"kind":"qr","value":"2@%d","expiresMs":60000}}`+"\n", n)
	}
	run := func(count int) (*strings.Builder, func(context.Context, io.ReadCloser, io.WriteCloser)) {
		var all strings.Builder
		for n := range count {
			all.WriteString(ask(n))
		}
		return &all, scripted(func(method string, id json.RawMessage, write func(string)) {
			well(method, id, write)
			if method == "start" {
				write(`{"jsonrpc":"2.0","method":"ask","params":{"kind":"qr","expiresMs":"soon"}}` + "\n" + all.String())
			}
		})
	}
	_, few := run(1000)
	c := open(t, channel.Account{Launch: launch(t, few)})
	running(t, c, func(context.Context, channel.Inbound) error { return nil })
	until(t, "the newest", func() bool { return c.Asking().Value == "2@999" })
	_, many := run(30_000)
	c = open(t, channel.Account{Launch: launch(t, many)})
	running(t, c, func(context.Context, channel.Inbound) error { return nil })
	until(t, "its end", func() bool { return strings.Contains(c.Status().Problem, "more than anybody could use") })
}

// leaving is a channel that ends its login.
type leaving struct {
	*asker
	err error
}

func (l *leaving) LogOut(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, "logged out")
	return l.err
}

// TestLogOut: the end of a login reaches the program that has the ability, with what came
// of it; another program is not asked.
func TestLogOut(t *testing.T) {
	l := &leaving{asker: &asker{Channel: loopback.NewNet().Channel("loopback", "default", limits)}}
	c := open(t, channel.Account{Launch: launch(t, serves(l))})
	running(t, c, func(context.Context, channel.Inbound) error { return nil })
	until(t, "its start", func() bool { return c.Status().State == channel.Receiving })
	out, can := channel.AsLogOuter(c)
	if !can {
		t.Fatal("it cannot log out")
	}
	if err := out.LogOut(t.Context()); err != nil {
		t.Error(err)
	}
	l.mu.Lock()
	l.err = fmt.Errorf("%w: there is no login", channel.ErrAuth)
	l.mu.Unlock()
	if err := out.LogOut(t.Context()); !errors.Is(err, channel.ErrAuth) || len(l.said) != 2 {
		t.Errorf("%v, %q", err, l.said)
	}
	other := open(t, channel.Account{Launch: launch(t, serves(loopback.NewNet().Channel("loopback", "default", limits)))})
	running(t, other, func(context.Context, channel.Inbound) error { return nil })
	until(t, "its start", func() bool { return other.Status().State == channel.Receiving })
	if _, can := channel.AsLogOuter(other); can {
		t.Error("a program without the ability is taken to have it")
	}
}
