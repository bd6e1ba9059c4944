package tui

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// talked is a session in which two things were said.
func talked(t *testing.T) *bench {
	b := newBench(t, 80, 24)
	two := user(3, "b", "second", protocol.ReceiptAnswered)
	two.Versions = &protocol.MessageVersions{At: 2, Entries: []string{"e1", "e2"}}
	b.g.history[mainKey] = page(user(1, "a", "first", protocol.ReceiptAnswered), answer(2, "a", "one"), two, answer(4, "b", "two"))
	return b.connect()
}

// params are those of the last call of a method.
func (b *bench) params(method string, to any) bool {
	for i := len(b.g.calls) - 1; i >= 0; i-- {
		if rest, ok := strings.CutPrefix(b.g.calls[i], method+" "); ok {
			return json.Unmarshal([]byte(rest), to) == nil
		}
	}
	return false
}

func TestASentMessageIsChangedAndAnsweredAgain(t *testing.T) {
	b := talked(t)
	if !strings.Contains(b.seen(), "‹2/2›") {
		t.Errorf("the versions are not shown:\n%s", b.seen())
	}
	b.keys("alt+e", "alt+e") // the one before the last
	if b.room.draft.text != "first" {
		t.Fatalf("%q", b.room.draft.text)
	}
	b.keys("'!", "enter")
	var p protocol.ChatAgainParams
	if !b.params(protocol.MethodChatAgain, &p) || p.EntryID != b.room.msgs[0].Meta.ID || p.Message == nil || *p.Message != "first!" ||
		p.IdempotencyKey == "" || b.room.draft.text != "" || b.room.redo != "" {
		t.Errorf("%+v, %q", p, b.g.calls)
	}
	b.keys("alt+e", "esc")
	if b.room.draft.text != "" || b.room.redo != "" {
		t.Error("Esc does not leave the message as it is")
	}
}

func TestRetryBranchAndVersions(t *testing.T) {
	b := talked(t)
	b.keys("'/retry chat/other", "enter")
	var p protocol.ChatAgainParams
	if !b.params(protocol.MethodChatAgain, &p) || p.Model != "chat/other" || p.Message != nil || p.EntryID != b.room.msgs[2].Meta.ID {
		t.Errorf("%+v", p)
	}
	b.keys("alt+v")
	var s protocol.BranchSwitchParams
	if !b.params(protocol.MethodBranchesSwitch, &s) || s.LeafEntryID != "e1" {
		t.Errorf("%+v", s)
	}
	last := b.room.msgs[len(b.room.msgs)-1].Meta.ID
	b.keys("'/branch", "enter")
	var e protocol.EntryParams
	if !b.params(protocol.MethodSessionsFork, &e) || e.EntryID != last {
		t.Errorf("%+v, %q", e, b.g.calls)
	}
	// Nothing is answered again while something is answered.
	c := talked(t)
	c.begin(c.room, "r9")
	c.keys("alt+r", "alt+e", "alt+v")
	if len(c.g.calls) > 0 || c.room.redo != "" || !strings.Contains(c.notice, "being answered") {
		t.Errorf("%q, %q", c.g.calls, c.notice)
	}
}

func TestFilesGoWithAMessage(t *testing.T) {
	b := talked(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "my notes.txt")
	if err := os.WriteFile(path, []byte("words"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(tea.PasteMsg{Content: strings.ReplaceAll(path, " ", `\ `)})
	if len(b.room.files) != 1 || b.room.draft.text != "" || !strings.Contains(b.seen(), "my notes.txt (5 bytes)") {
		t.Fatalf("%v\n%s", b.room.files, b.seen())
	}
	b.do(tea.PasteMsg{Content: dir}) // a folder is no file, so these are words
	if b.room.draft.text != dir || len(b.room.files) != 1 {
		t.Errorf("%q", b.room.draft.text)
	}
	b.keys("enter")
	var u protocol.UploadPutParams
	var s protocol.ChatSendParams
	if !b.params(protocol.MethodUploadPut, &u) || u.FileName != "my notes.txt" || u.Size != 5 || u.Content != "d29yZHM=" {
		t.Errorf("%+v", u)
	}
	if !b.params(protocol.MethodChatSend, &s) || len(s.Attachments) != 1 || s.Attachments[0].Upload != "up1" || len(b.room.files) != 0 {
		t.Errorf("%+v", s)
	}
	b.keys("'/attach nothing-here", "enter")
	if len(b.room.files) != 0 || !strings.Contains(b.notice, "Not attached") {
		t.Errorf("%q", b.notice)
	}
}

func TestTheMouseScrollsAndClicks(t *testing.T) {
	b := scene(t, 120, 12)
	b.seen() // how long it is follows from drawing it
	b.do(tea.MouseWheelMsg{X: 60, Y: 4, Button: tea.MouseWheelUp})
	if b.room.scroll != wheel {
		t.Errorf("scrolled %d", b.room.scroll)
	}
	b.do(tea.MouseClickMsg{X: 60, Y: 4, Button: tea.MouseLeft})
	if !b.room.expanded {
		t.Error("a click opens no tool call")
	}
	b.do(tea.MouseClickMsg{X: 3, Y: 2, Button: tea.MouseLeft})
	if b.room.key != "agent:main:chat:1" {
		t.Errorf("in %s", b.room.key)
	}
	b.keys("'/mouse off", "enter")
	if b.View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse is still taken")
	}
}

// TestSec_A_WEB_07_AClickAllowsNothing: nor does it deny.
func TestSec_A_WEB_07_AClickAllowsNothing(t *testing.T) {
	b := talked(t)
	b.asks.list = []protocol.Approval{{ID: "a1", Request: protocol.ApprovalRequest{Command: "ls", HearthScopes: []string{"once", "deny"}}}}
	b.openAsks()
	for y := range 24 {
		b.do(tea.MouseClickMsg{X: 2, Y: y, Button: tea.MouseLeft})
	}
	if len(b.g.calls) > 0 || !b.asks.open {
		t.Errorf("%q", b.g.calls)
	}
}

func TestThemes(t *testing.T) {
	b := talked(t)
	for _, name := range themeNames() {
		b.keys("'/theme "+name, "enter")
		if got := strings.Contains(b.theme.bad.paint("x"), "\x1b[31m"); name == "auto" && !got {
			t.Errorf("%s: %q", name, b.theme.bad)
		}
		for _, l := range []look{b.theme.brand, b.theme.good, b.theme.warn, b.theme.bad} {
			if name == "none" && strings.ContainsAny(string(l), "39") {
				t.Errorf("colour without colour: %q", l)
			}
		}
		if name == "contrast" && b.theme.dim != "" {
			t.Error("something is faint in high contrast")
		}
	}
	b.keys("'/theme pink", "enter")
	if !strings.Contains(b.notice, "contrast") {
		t.Errorf("%q", b.notice)
	}
}
