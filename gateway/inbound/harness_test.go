package inbound

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// sessions takes turns as the real ones do: an id once.
type sessions struct {
	mu   sync.Mutex
	got  []Accepted
	byID map[string]string
	try  func(Accepted) error // before taking
	lose func(Accepted) error // after taking: the answer is lost
}

func (s *sessions) Submit(_ context.Context, a Accepted) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.try != nil {
		if err := s.try(a); err != nil {
			return err
		}
	}
	if old, ok := s.byID[a.ID]; ok {
		if old != a.SessionKey+"\n"+a.Text {
			return errors.New("the id was used for another message")
		}
		return nil
	}
	s.byID[a.ID] = a.SessionKey + "\n" + a.Text
	s.got = append(s.got, a)
	if s.lose != nil {
		return s.lose(a)
	}
	return nil
}

func (s *sessions) bodies() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, a := range s.got {
		out = append(out, a.CommandBody)
	}
	return strings.Join(out, "|")
}

// house is a gate with everything around it, on a store that can be reopened.
type house struct {
	*Gate
	t        *testing.T
	path     string
	sessions *sessions
	settings Settings
	policy   Policy
	stop     func()
	ids      atomic.Int64

	mu        sync.Mutex
	decisions []Decision
	told      []string
}

func build(t *testing.T) *house {
	h := &house{t: t, path: filepath.Join(t.TempDir(), "h.db"), sessions: &sessions{byID: map[string]string{}}}
	h.policy = Policy{DM: DMOpen, Group: GroupOpen}
	h.settings = Settings{HistoryLimit: 50}
	h.settings.Envelope.NoTimestamp, h.settings.Envelope.NoElapsed = true, true
	h.open()
	t.Cleanup(func() { h.stop() })
	return h
}

// open starts the gateway's part of the house; stop ends it without a word,
// as a crash would, except that the file is let go.
func (h *house) open() {
	db, err := store.Open(h.path, store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		h.t.Fatal(err)
	}
	h.Gate = New(Options{
		DB: db, Contacts: contact.New(db, time.Now, rand.Reader), Sessions: h.sessions, Logger: slog.New(slog.DiscardHandler),
		Settings: func() Settings { return h.settings }, Policy: func(string, string) Policy { return h.policy },
		Now: time.Now, Local: time.UTC,
		NewID: func() string { return fmt.Sprint(h.ids.Add(1)) },
		Tell: func(_ context.Context, ch string, to channel.Target, text string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.told = append(h.told, ch+" "+to.Conversation+" "+text)
		},
		OnDecision: func(d Decision) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.decisions = append(h.decisions, d)
		},
	})
	h.stop = sync.OnceFunc(func() { _ = db.Close(context.WithoutCancel(h.t.Context())) })
}

func (h *house) run() {
	ctx, cancel := context.WithCancel(h.t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	before := h.stop
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			h.t.Error(err)
		}
		before()
	})
}

func (h *house) restart() {
	h.stop()
	h.open()
	h.run()
	synctest.Wait()
}

func (h *house) receive(in channel.Inbound) {
	h.t.Helper()
	if err := h.Receive(h.t.Context(), in); err != nil {
		h.t.Fatalf("receive %q: %v", in.Text, err)
	}
}

func (h *house) rules() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, d := range h.decisions {
		out = append(out, string(d.Rule))
	}
	return strings.Join(out, " ")
}

func (h *house) want(bodies string) {
	h.t.Helper()
	if got := h.sessions.bodies(); got != bodies {
		h.t.Errorf("sessions got %q, want %q (rules: %s)", got, bodies, h.rules())
	}
}

// inBubble runs a test in a bubble of fake time with a gate that works.
func inBubble(t *testing.T, setup func(*house), test func(*testing.T, *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := build(t)
		if setup != nil {
			setup(h)
		}
		h.run()
		synctest.Wait()
		test(t, h)
		h.stop()
	})
}

// dm is a direct message, group one of a group that mentions us.
func dm(id, text string) channel.Inbound {
	return channel.Inbound{Channel: "telegram", Account: "default", Chat: channel.Direct, Conversation: "42", SenderID: "42",
		SenderName: "Ann", SenderHandle: "ann", MessageID: id, Text: text, At: time.Now()}
}

func group(id, text string, mentioned bool) channel.Inbound {
	in := dm(id, text)
	in.Chat, in.Conversation, in.Label, in.Mentioned = channel.Group, "-100", "Family", mentioned
	return in
}

func by(in channel.Inbound, id, name string) channel.Inbound {
	in.SenderID, in.SenderName, in.SenderHandle = id, name, ""
	if in.Chat == channel.Direct {
		in.Conversation = id
	}
	return in
}

// pass lets time go by in a bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// kept counts the overheard messages on disk.
func (h *house) kept() (n int) {
	h.t.Helper()
	err := h.DB.View(func(tx *store.Tx) error {
		for range h.Gate.t.heard.ScanRaw(tx, store.Range{}) {
			n++
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}
