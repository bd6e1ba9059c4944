package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/program/serve"
	"github.com/hearth-assistant/hearth/gateway/channel/whatsapp"
)

// WhatsApp has no server that a test can have, and hearth-whatsapp is a module of its own. So
// the program that the gateway starts as hearth-whatsapp is this test program: it asks for its
// QR code to be scanned as that does, and what is said there comes from the test. What stands
// between the person and that program is the real thing.

// phoneNumber is the number of an assistant whose phone is the test's server at a port.
func phoneNumber(port string) string { return "+49151" + fmt.Sprintf("%05s", port) }

// phone is the WhatsApp of the assistant, as the test holds it.
type phone struct {
	mu      sync.Mutex
	scanned bool
	said    []string
	sent    []string
}

// state is what the program asks for: whether its code was scanned, and what was said.
type phoneState struct {
	Scanned bool
	Said    []string
}

func (p *phone) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Method == http.MethodPost {
		text, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		p.sent = append(p.sent, string(text))
		fmt.Fprint(w, len(p.sent))
		return
	}
	_ = json.NewEncoder(w).Encode(phoneState{p.scanned, p.said})
}

func onWhatsApp(t *testing.T) *place {
	p := &phone{}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	port := s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	locked := func(do func()) { p.mu.Lock(); defer p.mu.Unlock(); do() }
	return &place{
		right:   typed{whatsapp.KeyNumber: phoneNumber(port)},
		wrong:   typed{whatsapp.KeyNumber: "+4915100000"},
		refused: "another number scanned the code",
		scan:    func() { locked(func() { p.scanned = true }) },
		say:     func(text string) { locked(func() { p.said = append(p.said, text) }) },
		sent:    func() (out []string) { locked(func() { out = slices.Clone(p.sent) }); return out },
	}
}

// phoneProgram is hearth-whatsapp, as the gateway starts it.
func phoneProgram() {
	p := serve.Program{
		Name: "hearth-whatsapp of a test", Version: "1", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		New: func(network string, a channel.Account) (channel.Channel, error) {
			number := a.Texts[whatsapp.KeyNumber]
			return &linked{id: network, account: a.ID, number: number, at: "http://127.0.0.1:" + strings.TrimLeft(number[6:], "0")}, nil
		},
	}
	if err := p.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// linked is the account in that program.
type linked struct {
	id, account, number, at string

	mu     sync.Mutex
	status channel.Status
	ask    channel.Ask
}

func (l *linked) ID() string             { return l.id }
func (l *linked) Account() string        { return l.account }
func (l *linked) Limits() channel.Limits { return channel.Limits{Text: 4000} }

func (l *linked) Status() channel.Status { l.mu.Lock(); defer l.mu.Unlock(); return l.status }
func (l *linked) Asking() channel.Ask    { l.mu.Lock(); defer l.mu.Unlock(); return l.ask }

func (l *linked) become(state channel.State, problem string, ask channel.Ask) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status.Become(state, problem, time.Now())
	l.ask = ask
}

func (l *linked) Run(ctx context.Context, inbox channel.Inbox) error {
	if l.number == "+4915100000" {
		return errors.New("another number scanned the code: +49151 and not " + l.number)
	}
	l.become(channel.Waiting, "WhatsApp waits for its phone to scan a code", channel.Ask{Kind: channel.AskQR,
		Value: "2@of-the-test," + l.number, Words: "On the assistant's phone, open Linked devices.", Until: time.Now().Add(time.Minute)})
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for taken := 0; ; {
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil
		}
		now, err := l.look(ctx)
		if err != nil || !now.Scanned {
			continue
		}
		l.become(channel.Receiving, "", channel.Ask{})
		for _, text := range now.Said[min(taken, len(now.Said)):] {
			in := channel.Inbound{Channel: l.id, Account: l.account, Chat: channel.Direct, Conversation: "+4917000001", SenderID: "+4917000001",
				SenderName: "Ada", MessageID: "m" + strconv.Itoa(taken), Text: text, At: time.Now()}
			if inbox(ctx, in) != nil {
				break
			}
			taken++
		}
	}
}

func (l *linked) look(ctx context.Context) (now phoneState, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.at, nil)
	if err != nil {
		return now, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return now, err
	}
	defer res.Body.Close()
	return now, json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&now)
}

func (l *linked) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.at, bytes.NewReader([]byte(m.Text)))
	if err != nil {
		return channel.Receipt{}, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return channel.Receipt{}, err
	}
	defer res.Body.Close()
	id, err := io.ReadAll(io.LimitReader(res.Body, 100))
	return channel.Receipt{MessageID: string(id)}, err
}
