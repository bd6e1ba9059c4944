package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams/msteamstest"
	"github.com/hearth-assistant/hearth/gateway/channel/networks"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
)

// place is an account on a network of a test, and somebody who writes to it.
type place struct {
	right   map[string]string // what the person answers when they are asked for a setting
	wrong   map[string]string // of these, what they answer the first time
	refused string            // what is said of that
	scan    func()            // scans the QR code that is drawn; nil: none is
	say     func(text string)
	sent    func() []string       // all that the assistant wrote to them
	calls   func(channel.Channel) // of a network that calls the gateway
}

// notWalked are the networks that are not set up here, and why.
var notWalked = map[string]string{
	"telegram": "TestChannelsAdd of app/cli sets it up",
	"imessage": "it is a program of a Mac with an account of Apple's",
	"webhook":  "it has no network: whoever calls it is a program of the person's own, see its example",
	"program":  "it is whatever its person wrote; TestChannelsLogin of app/cli sets one up",
}

// TestChannelsAddNetworks: on each network, the questions of `hearth channels add` are
// answered from a fresh state folder with what its page says to have at hand. A mistyped
// and a wrong secret are said and leave nothing; with the right ones a first message, its
// code and an answer go both ways, and `hearth channels remove` leaves nothing.
func TestChannelsAddNetworks(t *testing.T) {
	program, err := exec.LookPath("hearth")
	if err != nil {
		t.Fatal(err)
	}
	gatewaytest.ChannelsIn(t, filepath.Dir(program))
	for _, kind := range networks.List() {
		open, walked := places[kind.ID]
		if why := notWalked[kind.ID]; (why != "") == walked {
			t.Errorf("%s has to be either walked or listed with a reason (%q)", kind.ID, why)
		}
		if !walked {
			continue
		}
		t.Run(kind.ID, func(t *testing.T) {
			t.Parallel()
			w := &walk{house: newHouse(t, "echo"), place: open(t), kind: kind}
			w.gateway()
			if w.calls != nil {
				w.calls(door{port: w.port, t: t})
			}
			w.refuse()
			w.connect()
			w.remove()
		})
	}
}

// TestConfigSetAsks: a secret of a network that is set without its value is asked for
// and kept, and a number of a phone is text.
func TestConfigSetAsks(t *testing.T) {
	h := newHouse(t, "echo")
	h.gateway()
	p := h.terminal("160", "50", "config", "set", "channels.msteams.appPassword")
	p.until("Enter: 1")
	p.keys("2", "Enter")
	p.until("appPassword: ")
	p.keys("-l", msteamstest.Secret)
	p.keys("Enter")
	p.ended("0")
	p.until("channels.msteams.appPassword set in", "!"+msteamstest.Secret)
	if out, err := h.hearth("config", "set", "channels.signal.account", "+4915112345678").CombinedOutput(); err != nil {
		t.Errorf("%v %s", err, out)
	}
	if out, err := h.hearth("config", "set", "channels.signal.account").CombinedOutput(); err == nil {
		t.Errorf("what is no secret is asked for: %s", out)
	}
	text, err := os.ReadFile(filepath.Join(h.home, "hearth.json"))
	if err != nil || !strings.Contains(string(text), "keychain:channels.msteams.appPassword") ||
		!strings.Contains(string(text), `"+4915112345678"`) || strings.Contains(string(text), msteamstest.Secret) {
		t.Errorf("%v %s", err, text)
	}
}

// walk is a person who sets a network up.
type walk struct {
	*house
	*place
	kind channel.Kind
}

var paired = regexp.MustCompile(`\b[A-Z0-9]{8}\b`)

// refuse answers with something wrong.
func (w *walk) refuse() {
	w.t.Helper()
	p := w.terminal("160", "150", "channels", "add", w.kind.ID)
	for _, s := range w.kind.Settings {
		if s.Rare {
			continue
		}
		answer, times := w.right[s.Key], 1
		if word, ok := w.wrong[s.Key]; ok {
			answer = word
		}
		if s.OneOf && w.right[s.Key] == "" {
			continue // the other one was given
		}
		if _, why := w.kind.Answer(s, "a b"); s.Form == channel.SecretText && why != "" {
			w.answer(p, s.Key, "a b", 1)
			p.until("✗ ")
			times = 2
		}
		w.answer(p, s.Key, answer, times)
	}
	w.keptIn(p)
	p.until(w.refused, "Nothing of it was kept.")
	p.ended("1")
	w.nothing()
}

// connect answers with what is right.
func (w *walk) connect() {
	w.t.Helper()
	p := w.terminal("160", "150", "channels", "add", w.kind.ID)
	for _, s := range w.kind.Settings {
		if !s.Rare && (!s.OneOf || w.right[s.Key] != "") {
			w.answer(p, s.Key, w.right[s.Key], 1)
		}
	}
	if w.scan != nil {
		p.until("Linked devices", "▄", "It holds until")
		w.scan()
	}
	p.until("✓ The account is connected.")
	if w.kind.Called {
		p.until("By which name is this machine reached from outside?")
		p.keys("-l", "http://hearth.example.org")
		p.keys("Enter")
		p.until("networks call by https:// alone")
		p.keys("Enter")
		p.until("https://YOUR-NAME" + channel.CallPath(w.kind.ID, "default"))
	}
	p.until("Now write to it.")
	w.say("hello")
	p.until("wrote, and was sent a code.")
	p.keys("WRONGONE", "Enter")
	p.until("That is another code.")
	p.keys(w.hears("a code", paired), "Enter")
	p.ended("0")
	p.until(w.kind.Label + " is connected")
	w.say("how are you?")
	w.hears("an answer", regexp.MustCompile(`(?s)echo: .*how are you\?`))
}

func (w *walk) remove() {
	w.t.Helper()
	if out, err := w.hearth("channels", "remove", w.kind.ID).CombinedOutput(); err != nil {
		w.t.Fatalf("%v %s", err, out)
	}
	w.nothing()
}

// answer waits until a setting is asked for, and types.
func (w *walk) answer(p *pane, key, text string, times int) {
	w.t.Helper()
	asked := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(key) + `: `)
	p.wait("the question for "+key, func(s string) bool { return len(asked.FindAllString(s, -1)) >= times })
	if text != "" {
		p.keys("-l", text)
	}
	p.keys("Enter")
}

// keptIn says where secrets are kept, where there is no keychain.
func (w *walk) keptIn(p *pane) {
	w.t.Helper()
	asks := ""
	p.wait("what follows", func(s string) bool {
		asks = s
		return strings.Contains(s, "Enter: 1") || strings.Contains(s, "Connecting")
	})
	if strings.Contains(asks, "Enter: 1") && !strings.Contains(asks, "Connecting") {
		p.keys("2", "Enter")
	}
}

// hears waits for words of the assistant.
func (w *walk) hears(what string, words *regexp.Regexp) (found string) {
	w.t.Helper()
	retry := time.NewTicker(10 * time.Millisecond)
	defer retry.Stop()
	for late := time.After(30 * time.Second); ; {
		if found = words.FindString(strings.Join(w.sent(), "\n")); found != "" {
			return found
		}
		select {
		case <-retry.C:
		case <-late:
			w.t.Fatalf("%s did not come; what came: %q", what, w.sent())
		}
	}
}

// nothing looks for what is left of the network.
func (w *walk) nothing() {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.home, "hearth.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	names, err := w.hearth("secrets", "list").CombinedOutput()
	if err != nil {
		w.t.Fatalf("%v %s", err, names)
	}
	for where, s := range map[string]string{"the settings": string(text), "the secrets": string(names)} {
		if strings.Contains(s, w.kind.ID) {
			w.t.Errorf("%s is still in %s:\n%s", w.kind.ID, where, s)
		}
	}
	if out, err := w.hearth("channels").CombinedOutput(); err != nil || !strings.Contains(string(out), "No messaging network is connected") {
		w.t.Errorf("%v %s", err, out)
	}
	if t, err := filepath.Glob(filepath.Join(w.home, "*", w.kind.ID+"*")); err != nil || len(t) > 0 {
		w.t.Errorf("%v %v", t, err)
	}
}

// wait waits for a screen.
func (p *pane) wait(what string, ok func(screen string) bool) {
	p.t.Helper()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for late := time.After(30 * time.Second); !ok(p.screen()); {
		select {
		case <-retry.C:
		case <-late:
			p.t.Fatalf("%s did not come:\n%s", what, p.screen())
		}
	}
}
