package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/seed"
)

// A handler that panics answers, in the page and on a network, and is written
// down where people look.
func TestFault_F_CHAN_07_ABrokenCommandAnswers(t *testing.T) {
	r, api := gatewaytest.NewOnTelegram(t, "chat/echo", map[string]any{"dmPolicy": "allowlist", "allowFrom": []string{"777"}})
	r.Gateway.BreakCommand("status")
	p := r.Connect()
	if end := p.Say("main", "a", "/status"); end.State != protocol.ChatFinal || !strings.Contains(end.Message.Text(), "failed inside Hearth") {
		t.Errorf("in the page: %+v", end)
	}
	api.Say(gatewaytest.Anna, telegramtest.Person{ID: gatewaytest.Anna, Name: "Anna"}, "/status", nil)
	gatewaytest.WaitFor(t, "an answer on Telegram", func() bool {
		return strings.Contains(strings.Join(gatewaytest.Texts(api, gatewaytest.Anna), "\n"), "failed inside Hearth")
	})
	var doc protocol.Doctor
	p.Do(protocol.MethodDoctor, protocol.DoctorParams{}, &doc)
	if !strings.Contains(fmt.Sprint(doc.Checks), "failures of Hearth itself in the last seven days: 2") {
		t.Errorf("doctor says %+v", doc.Checks)
	}
	if end := p.Say("main", "b", "still there?"); end.Message.Text() != "echo: still there?" {
		t.Errorf("afterwards: %+v", end)
	}
}

// What once panicked: an account without a model in front of it.
func TestModelsWithoutANameAreRefused(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	if end := p.Say("main", "1", "/model @x"); end.Message == nil || !strings.Contains(end.Message.Text(), "there is no account") {
		t.Errorf("/model @x: %+v", end)
	}
	for i, text := range []string{"/new @x", "/new @bob says hi", "/new @"} {
		if end := p.Say("main", fmt.Sprint("n", i), text); end.Message == nil || !strings.Contains(end.Message.Text(),
			strings.TrimPrefix(text, "/new ")) {
			t.Errorf("%s: %+v", text, end)
		}
	}
}

// hostile are arguments that nobody would type by mistake.
func hostile() []string {
	return []string{
		"", "@", "@x", "/", "//", "a/b@", "@/@", "x@y/z@", ":", "::", "0", "-1", "99999999999999999999", "debounce:", "cap:x drop:",
		"debounce:99999999999h",
		"\x00", "\xff\xfe", "\u202e\u200b", strings.Repeat("a", 5000), strings.Repeat("@", 300), strings.Repeat("/", 300), "`", "``` ```",
		"%s%n%d", "../../etc/passwd",
		"default", "list", "once", "allow once", "restore", "detail", "high what is 1+1?", "chat/echo@chat:x", "chat/echo@x hello", "\n\n",
		"a\nb", "{\"a\":1}", "停", "ß@ß/ß",
	}
}

// FuzzCommands sends every command with any arguments the whole way. Each must
// be answered or become a message; none may panic.
func FuzzCommands(f *testing.F) {
	r := gatewaytest.New(f, "chat/echo") // one gateway for all of them
	gw := r.Gateway
	for i := range gw.Commands() { // each with some, all together with all of them
		for j, every := 0, seed.Rounds(3, 1); j < len(hostile()); j++ {
			if (i+j)%every == 0 {
				f.Add(uint8(i), hostile()[j])
			}
		}
	}
	p := r.Connect()
	n := 0
	f.Fuzz(func(t *testing.T, which uint8, args string) {
		all := gw.Commands()
		c := all[int(which)%len(all)]
		key := "agent:main:chat:" + c.Name // a long conversation costs more with every turn
		if c.Name == "pause" {             // would hold back the others' answers
			defer p.Say(key, fmt.Sprint("resume", n), "/resume")
		}
		n++
		text := "/" + c.Name + " " + args
		if len(text) > protocol.MaxMessageText {
			return
		}
		text = strings.ToValidUTF8(text, "?")
		p.T = t
		end := p.Say(key, fmt.Sprint("f", n), text)
		if end.Message == nil || strings.TrimSpace(end.Message.Text()) == "" || strings.Contains(end.Message.Text(), "failed inside Hearth") {
			t.Errorf("%q had no answer: %+v", text, end)
		}
	})
}
