package telegram

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
)

const (
	testToken  = "4242424242:AAcanary-7f3a9c_secretTokenPart-xyz01"
	testSecret = "hook-secret_0123456789"
	dm         = int64(77)
	group      = int64(-100200)
	forum      = int64(-100300)
	room       = int64(-100400)
)

func ann() telegramtest.Person { return telegramtest.Person{ID: 77, Name: "Ann", Username: "ann"} }

// rig is a channel, its server and what it handed over.
type rig struct {
	t    *testing.T
	net  *telegramtest.Server
	ch   *Channel
	logs *safeBuffer

	mu   sync.Mutex
	got  []channel.Inbound
	fail []error // for the next messages
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// in runs f in a bubble with a server that knows four chats.
func in(t *testing.T, f func(r *rig)) {
	t.Helper()
	inMode(t, Options{}, f)
}

func inMode(t *testing.T, o Options, f func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, net: telegramtest.New(testToken), logs: &safeBuffer{}}
		defer r.net.Close()
		r.net.AddChat(telegramtest.Chat{ID: dm, Type: "private", Title: "Ann"})
		r.net.AddChat(telegramtest.Chat{ID: group, Type: "supergroup", Title: "Family"})
		r.net.AddChat(telegramtest.Chat{ID: forum, Type: "supergroup", Title: "Work", Forum: true, Topics: []int64{5}})
		r.net.AddChat(telegramtest.Chat{ID: room, Type: "channel", Title: "News"})
		o.Token, o.BaseURL, o.HTTP = testToken, r.net.URL(), r.net.Client()
		o.Logger = slog.New(slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
		ch, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		r.ch = ch
		f(r)
		for _, s := range []string{testToken, "AAcanary", testSecret} {
			if strings.Contains(r.logs.String(), s) {
				t.Errorf("the log holds a secret:\n%s", r.logs)
			}
		}
	})
}

func (r *rig) inbox(_ context.Context, in channel.Inbound) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.fail) > 0 {
		err := r.fail[0]
		r.fail = r.fail[1:]
		if err != nil {
			return err
		}
	}
	r.got = append(r.got, in)
	return nil
}

func (r *rig) messages() []channel.Inbound {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]channel.Inbound(nil), r.got...)
}

func (r *rig) texts() (out []string) {
	for _, m := range r.messages() {
		out = append(out, m.Text)
	}
	return out
}

// run starts Run; stop ends it and gives its error.
func (r *rig) run() (stop func() error) {
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan error, 1)
	go func() { done <- r.ch.Run(ctx, r.inbox) }()
	synctest.Wait()
	return func() error {
		cancel()
		return <-done
	}
}

// wait lets the bubble's clock go on.
func (r *rig) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.t.Context().Done():
	}
	synctest.Wait()
}

func target(chat int64) channel.Target {
	return channel.Target{Account: "default", Conversation: number(chat)}
}

func (r *rig) send(chat int64, text string) (channel.Receipt, error) {
	return r.ch.Send(r.t.Context(), channel.Message{To: target(chat), Text: text})
}

func mustBe(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}
