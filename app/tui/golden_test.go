package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// scene is a conversation with a bit of everything.
func scene(t *testing.T, w, h int) *bench {
	b := newBench(t, w, h)
	b.g.rows = []protocol.SessionRow{
		{Key: mainKey, DerivedTitle: "Weekend in Köln", UpdatedAt: 9, Model: "claude-x", ModelProvider: "claude"},
		{Key: "agent:main:chat:1", Label: "Tax return 2025", UpdatedAt: 8, HasActiveRun: true, QueuedRuns: 2},
		{Key: "agent:main:chat:2", DerivedTitle: "漢字 practice, lesson twelve, with a title that does not fit", UpdatedAt: 7},
		{Key: "agent:main:chat:3", UpdatedAt: 6},
	}
	call := answer(65538, "b", "I look that up.")
	call.Content = append(call.Content,
		protocol.Block{Type: protocol.BlockToolCall, ID: "c1", Name: "weather", Arguments: json.RawMessage(`{"city":"Köln"}`)},
		protocol.Block{Type: protocol.BlockToolCall, ID: "c2", Name: "trains", Arguments: json.RawMessage(`{"to":"Köln Hbf","when":"Saturday"}`)})
	failedAt := user(3, "x", "What time is it?", protocol.ReceiptFailed)
	failedAt.Hearth.Error = "The model service has no credit left. Add credit there, or choose another model with /model."
	hist := page(
		user(1, "a", "Hello!", protocol.ReceiptAnswered), answer(2, "a", "Hello. What shall we plan?"), failedAt,
		user(65536, "b", "A weekend in Köln. How is the weather,\nand which train do I take?", protocol.ReceiptAnswering), call,
		protocol.Message{Role: protocol.MessageToolResult, ToolCallID: "c1", Content: protocol.TextBlocks("9 °C"), Timestamp: 420,
			Meta: &protocol.MessageMeta{ID: "r1", Seq: 65539, RunID: "b"}},
		protocol.Message{Role: protocol.MessageToolResult, ToolCallID: "c2", IsError: true, Content: protocol.TextBlocks("no answer"),
			Timestamp: 12_000, Meta: &protocol.MessageMeta{ID: "r2", Seq: 65540, RunID: "b"}},
		user(131072, "c", "Somewhere quiet to sleep, please", protocol.ReceiptAccepted),
	)
	text := "**Saturday** will be mild:\n\n| day | °C |\n|---|---:|\n| Sat | 9 |\n| Sun | 12 |\n\n- take an umbrella\n" +
		"- the trains could not be"
	hist.InFlightRun = &protocol.InFlightRun{RunID: "b", Text: text, End: int64(len(text))}
	b.g.history[mainKey] = hist
	return b.connect()
}

func TestGoldenViews(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 12}} {
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		b := scene(t, size[0], size[1])
		golden(t, "view-"+name+".txt", b.seen())
		b.keys("ctrl+b")
		golden(t, "list-"+name+".txt", b.seen())
		b.keys("esc", "?")
		golden(t, "help-"+name+".txt", b.seen())
		b.keys("esc", "'/")
		golden(t, "commands-"+name+".txt", b.seen())
		b.keys("backspace", "'a long message that has to be wrapped, because it does not fit on one line", "alt+enter", "'and a second line")
		b.do(lostMsg{client.ErrLost})
		golden(t, "offline-"+name+".txt", b.seen())
	}
	b := newBench(t, 80, 24)
	golden(t, "empty-80x24.txt", b.connect().seen())
}

// Whatever the size and whatever is pressed, the screen has its size and only
// clean text.
func TestAnySizeAnyKey(t *testing.T) {
	keys := []string{"up", "down", "tab", "enter", "esc", "pgup", "pgdown", "end", "ctrl+b", "ctrl+o", "ctrl+n", "ctrl+r", "ctrl+x", "alt+up",
		"alt+enter", "f2", "backspace", "'?", "'/", "'x", "'漢", "'m"}
	rapid.Check(t, func(rt *rapid.T) {
		b := scene(t, rapid.IntRange(1, 140).Draw(rt, "w"), rapid.IntRange(1, 50).Draw(rt, "h"))
		for _, k := range rapid.SliceOfN(rapid.SampledFrom(keys), 0, 30).Draw(rt, "keys") {
			b.keys(k)
			b.seen()
			if rapid.IntRange(0, 9).Draw(rt, "resize") == 0 {
				b.do(tea.WindowSizeMsg{Width: rapid.IntRange(1, 140).Draw(rt, "w2"), Height: rapid.IntRange(1, 50).Draw(rt, "h2")})
			}
		}
	})
}

// Hostile words wherever they can come from reach the screen as words only.
func TestSec_A_TTY_02_Everywhere(t *testing.T) {
	evil := "a\x1b[2J\x1b]52;c;eA==\x07\u202eb\r\x00\u009b31m"
	b := newBench(t, 120, 40)
	b.g.rows = []protocol.SessionRow{{Key: mainKey, Label: evil, Model: evil, ModelProvider: evil}, {Key: evil, DerivedTitle: ""}}
	msg := answer(2, "a", evil)
	msg.Provider, msg.Model, msg.ErrorMessage = evil, evil, evil
	msg.Content = append(msg.Content, protocol.Block{Type: protocol.BlockToolCall, ID: "c", Name: evil, Arguments: json.RawMessage(evil)})
	ask := user(1, "a", evil, protocol.ReceiptFailed)
	ask.Hearth.Error = evil
	b.room = b.enter(mainKey)
	b.room.merge(&protocol.ChatHistory{SessionID: "s", Messages: []protocol.Message{ask, msg,
		{Role: protocol.MessageToolResult, ToolCallID: "c", Content: protocol.TextBlocks(evil), Meta: &protocol.MessageMeta{ID: "r", Seq: 3,
			RunID: "a"}},
		user(9, "q", evil, protocol.ReceiptAccepted)},
		InFlightRun: &protocol.InFlightRun{RunID: "z", Text: evil, End: int64(len(evil))}}, b.now())
	b.rows = b.g.rows
	b.link = connected
	b.commands = []protocol.CommandInfo{{TextAliases: []string{"/" + evil}, Description: evil, Args: []protocol.CommandArg{
		{Name: evil, Choices: []protocol.CommandChoice{{Value: evil, Label: evil}}}}}}
	b.keys("ctrl+o", "'/")
	b.seen()
	b.keys("tab", "backspace")
	b.seen()
	b.do(lostMsg{fmt.Errorf("%s", evil)})
	b.wants("offline")
	b.notice = evil
	b.seen()
	lines, _, _ := b.screen()
	if s := strings.Join(lines, ""); strings.Contains(s, "\x1b[2J") || strings.Contains(s, "\x1b]") {
		t.Errorf("%q", s)
	}
}
