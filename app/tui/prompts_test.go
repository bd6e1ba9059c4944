package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// prompted is a session of a person who keeps two prompts.
func prompted(t *testing.T, w int) *bench {
	b := newBench(t, w, 24)
	b.g.prompts = []protocol.PromptTemplate{
		{Name: "standup", Text: "What did I do?\nAnd what not?", Fields: []string{}},
		{Name: "trip", About: "A weekend\x1b[31m away", Text: "To {{city}} in {{the month}}.", Fields: []string{"city", "the month"}},
	}
	return b.connect()
}

func TestAPromptIsFilledInAndSent(t *testing.T) {
	b := prompted(t, 80)
	b.keys("'/tr")
	b.wants("/trip", "A weekend away", "!/standup")
	b.keys("enter")
	b.wants("city:", "!Write a message")
	b.keys("enter")
	b.wants("It asks for this.")
	b.keys("'Bern", "enter")
	b.wants("the month:")
	b.keys("up")
	b.wants("city: Bern")
	b.keys("'e", "enter")
	b.do(tea.PasteMsg{Content: "{{city}}\nor\tMay"})
	b.keys("enter")
	b.wants("To Berne in {{city}} or May.", "Enter sends it.")
	if len(b.g.calls) != 0 {
		t.Fatalf("sent before anybody said so: %q", b.g.calls)
	}
	b.keys("enter")
	var p protocol.ChatSendParams
	if !b.params(protocol.MethodChatSend, &p) || p.Message != "To Berne in {{city}} or May." {
		t.Errorf("%+v", p)
	}
}

func TestPromptsByTheirCommand(t *testing.T) {
	b := prompted(t, 80)
	b.keys("'/prompts", "enter")
	b.wants("Which prompt? standup, trip")
	b.keys("'/prompts ")
	b.wants("/standup", "/trip")
	b.keys("down", "enter") // the second one
	b.wants("city:")
	b.keys("esc")
	b.wants("The prompt was left.", "!city:")
	b.keys("'/prompts standup", "enter") // asks for nothing
	if b.fill != nil || b.room.draft.text != "What did I do?\nAnd what not?" {
		t.Errorf("%+v, %q", b.fill, b.room.draft.text)
	}
	b.room.draft = composer{}
	b.keys("'/prompts ghost", "enter")
	b.wants("There is no prompt ghost")
	// What was kept elsewhere meanwhile is found, and a command of that name comes first.
	b.g.prompts = []protocol.PromptTemplate{{Name: "status", Text: "How am I?"}, {Name: "new-one", Text: "x"}}
	b.room.draft = composer{}
	b.keys("'/new")
	b.wants("/new-one")
	b.room.draft = composer{}
	b.keys("'/status", "enter")
	var p protocol.ChatSendParams
	if !b.params(protocol.MethodChatSend, &p) || p.Message != "/status" {
		t.Errorf("%+v", p)
	}
	b.g.prompts = nil
	b.do(b.listPrompts()())
	b.keys("'/prompts", "enter")
	b.wants("No prompts are kept")
}

// A field that is asked for fits into a narrow screen, and what is written last is seen.
func TestFieldsOnNarrowScreens(t *testing.T) {
	b := prompted(t, 40)
	b.g.prompts[1].Fields[0] = strings.Repeat("what city ", 6) + "\x1b[2J"
	b.do(b.listPrompts()())
	b.keys("'/trip", "enter")
	b.wants("what city what")
	b.keys("'" + strings.Repeat("0123456789", 8) + "end")
	b.wants("89end")
}
