package channel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// TestSec_A_CH_Asks: what a program asks of a person is shown only when it is what it
// says, and not longer than it says.
func TestSec_A_CH_Asks(t *testing.T) {
	now := time.Now()
	right := channel.Ask{Kind: channel.AskQR, Value: "2@abc,def==", Words: "Scan it.", Until: now.Add(time.Minute)}
	if err := right.Check(now); err != nil {
		t.Error(err)
	}
	if right.At(now) != right || right.At(now.Add(time.Minute)) != (channel.Ask{}) {
		t.Error("an ask ends when it says")
	}
	for name, change := range map[string]func(*channel.Ask){
		"another kind":       func(a *channel.Ask) { a.Kind = "password" },
		"nothing":            func(a *channel.Ask) { a.Value = "  " },
		"too much":           func(a *channel.Ask) { a.Value = strings.Repeat("x", 2001) },
		"too many words":     func(a *channel.Ask) { a.Words = strings.Repeat("x", 601) },
		"terminal signs":     func(a *channel.Ask) { a.Words = "\x1b[2J" },
		"words turned round": func(a *channel.Ask) { a.Value = "\u202ecba" },
		"lines in a code":    func(a *channel.Ask) { a.Kind, a.Value = channel.AskCode, "a\nb" },
		"another address":    func(a *channel.Ask) { a.Kind, a.Value = channel.AskURL, "javascript:alert(1)" },
		"for ever":           func(a *channel.Ask) { a.Until = now.Add(time.Hour) },
		"over":               func(a *channel.Ask) { a.Until = now },
	} {
		wrong := right
		change(&wrong)
		if err := wrong.Check(now); err == nil {
			t.Errorf("%s is shown: %+v", name, wrong)
		}
	}
}
