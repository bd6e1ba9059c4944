package question

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// one is the network that is there; while it is away, none is connected.
type one struct {
	ch   channel.Channel
	away atomic.Bool
}

func (o *one) Find(string, string) channel.Channel {
	if o.away.Load() {
		return nil
	}
	return o.ch
}

// place is a desk with its network, on a store that can be opened again.
type place struct {
	*Desk
	t    *testing.T
	net  *loopback.Net
	on   *one
	path string
	stop func()
}

func (p *place) open() {
	db, err := store.Open(p.path, store.Options{ReserveBytes: -1, NoSync: true})
	if err != nil {
		p.t.Fatal(err)
	}
	work := background.New(p.t.Context())
	p.Desk = New(Options{DB: db, Channels: p.on, Work: work, Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	work.Go(p.Run)
	p.stop = func() { work.Close(); _ = db.Close(context.WithoutCancel(p.t.Context())) }
}

// at runs a test in a bubble of fake time.
func at(t *testing.T, test func(t *testing.T, p *place)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &place{t: t, net: loopback.NewNet(), on: &one{}, path: filepath.Join(t.TempDir(), "q.db")}
		p.on.ch = p.net.Channel("loopback", "default", channel.Limits{Choices: 5})
		p.open()
		test(t, p)
		p.stop()
	})
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (p *place) ask(until time.Duration) {
	p.t.Helper()
	err := p.Ask(Question{
		Subject: "s", Channel: "loopback", To: channel.Target{Account: "default", Conversation: "c"}, Text: "May I?",
		Until:   time.Now().Add(until),
		Options: []Option{{Label: "Yes", Says: "/yes"}, {Label: "No", Says: "/no"}}, Sender: "ada",
	}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	synctest.Wait()
}

func (p *place) press(sender, press string, option int) channel.Inbound {
	m := p.net.Messages()[0]
	data := p.data(option)
	return channel.Inbound{Channel: "loopback", Account: "default", Conversation: "c", SenderID: sender, Chat: channel.Direct,
		Press: channel.Press{ID: press, Data: data, MessageID: m.ID}}
}

// data is what a button of the one question sends, also when it is gone.
func (p *place) data(option int) string {
	var all []row
	_ = p.o.DB.View(func(tx *store.Tx) (err error) { all, err = p.all(tx); return err })
	return fmt.Sprintf("%s.%d", all[0].ID, option)
}

func (p *place) take(in channel.Inbound) error {
	return p.o.DB.Update(p.t.Context(), store.Write{Do: func(tx *store.Tx) error { return p.Take(tx, in, false) },
		Then: func() { p.Taken(in) }})
}

func TestPress(t *testing.T) {
	at(t, func(t *testing.T, p *place) {
		p.ask(time.Hour)
		if _, word, _ := p.Look(p.press("eve", "1", 0), true); word != senderWords {
			t.Errorf("somebody else: %q", word)
		}
		in := p.press("ada", "2", 1)
		if says, word, err := p.Look(in, false); says != "/no" || word != "" || err != nil {
			t.Errorf("%q %q %v", says, word, err)
		}
		if err := p.take(in); err != nil {
			t.Fatal(err)
		}
		if says, _, _ := p.Look(in, false); says != "/no" { // the network brings it again
			t.Errorf("%q", says)
		}
		if err := p.take(p.press("ada", "3", 0)); !errors.Is(err, ErrOver) {
			t.Errorf("a second answer: %v", err)
		}
		if _, word, _ := p.Look(p.press("ada", "3", 0), false); word != answeredWords {
			t.Errorf("%q", word)
		}
		pass(time.Second)
		if m := p.net.Messages()[0]; len(m.Choices) != 0 || m.Text != "May I?\n\n✓ No" || strings.Join(m.Words, "") != "✓ No" {
			t.Errorf("people see %+v", m)
		}
	})
}

// The buttons of what nobody answered go when its time is over, when its subject is,
// after a restart, and however often the network fails meanwhile.
func TestButtonsGo(t *testing.T) {
	for name, end := range map[string]func(p *place){
		"time": func(*place) { pass(2 * time.Minute) },
		"subject": func(p *place) {
			p.Over("other", "no")
			p.Over("s", "It is decided.")
		},
		"restart": func(p *place) {
			p.stop()
			pass(2 * time.Minute)
			p.open()
		},
		"away": func(p *place) {
			p.on.away.Store(true)
			pass(2 * time.Minute)
			p.on.away.Store(false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			at(t, func(t *testing.T, p *place) {
				p.ask(time.Minute)
				p.net.Script(loopback.Fault{On: loopback.OpSettle, Kind: loopback.Passing},
					loopback.Fault{On: loopback.OpSettle, Kind: loopback.Limited, After: 20 * time.Second})
				end(p)
				pass(10 * time.Minute)
				if m := p.net.Messages()[0]; len(m.Choices) != 0 || !strings.HasPrefix(m.Text, "May I?\n\n") {
					t.Errorf("people see %+v", m)
				}
				if n := p.net.Calls(loopback.OpSettle); n != 3 {
					t.Errorf("it was tried %d times", n)
				}
				if _, word, _ := p.Look(p.press("ada", "9", 0), false); word != overWords {
					t.Errorf("%q", word)
				}
			})
		})
	}
}

// A question that the network does not take is asked in words, and one of which nobody
// knows whether it arrived is not asked again.
func TestUnsent(t *testing.T) {
	for kind, want := range map[loopback.Kind]int{loopback.Refused: 1, loopback.Lost: 0, loopback.Limited: 0} {
		at(t, func(t *testing.T, p *place) {
			p.net.Script(loopback.Fault{On: loopback.OpSend, Kind: kind, After: time.Second})
			unsent := 0
			q := Question{Subject: "s", Channel: "loopback", To: channel.Target{Account: "default", Conversation: "c"}, Text: "May I?",
				Until: time.Now().Add(time.Hour), Options: []Option{{Label: "Yes", Says: "/yes"}}}
			if err := p.Ask(q, func(error) { unsent++ }); err != nil {
				t.Fatal(err)
			}
			pass(5 * time.Second)
			if unsent != want || len(p.net.Messages())+want != 1 {
				t.Errorf("%s: %d were not sent; people see %+v", kind, unsent, p.net.Messages())
			}
		})
	}
}
