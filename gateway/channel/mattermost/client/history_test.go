package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/mattermost/mattermosttest"
)

func texts(all []channel.Past) string {
	var out []string
	for _, m := range all {
		out = append(out, m.SenderName+": "+m.Text)
	}
	return strings.Join(out, " | ")
}

// TestHistory: a channel and a thread are read back page by page, and words are found in
// the chat that is meant alone, whatever signs stand in them.
func TestHistory(t *testing.T) {
	w := newWorld(t)
	clienttest.Running(t, w.c)
	first := w.Say(w.ada, w.town, "the harbour first", nil)
	for range 250 {
		w.Say(w.ada, w.town, "chatter", nil)
	}
	w.Say(w.ada, w.town, "in the thread", func(p *mattermosttest.Post) { p.RootID = first.ID })
	w.Say(w.ada, w.town, "ada joined", func(p *mattermosttest.Post) { p.Type = "system_join_channel" })
	file := w.Upload("a.pdf", "application/pdf", []byte("%PDF"))
	last := w.Say(w.ada, w.town, "look", func(p *mattermosttest.Post) { p.FileIDs = []string{file} })
	w.Say(w.ada, w.dm, "another harbour", nil)
	read := func(to channel.Target, before string, limit int) string {
		t.Helper()
		all, err := w.c.Read(t.Context(), to, before, limit)
		if err != nil {
			t.Fatal(err)
		}
		return texts(all)
	}
	if got := read(w.group(), "", 2); got != "ada: in the thread | ada: look\n[file: a.pdf]" {
		t.Errorf("%q", got)
	}
	all, err := w.c.Read(t.Context(), w.group(), last.ID, 300)
	if err != nil || len(all) != 252 || all[0].Text != "the harbour first" || all[251].Text != "in the thread" {
		t.Errorf("%d: %v", len(all), err)
	}
	thread := w.group()
	thread.Thread = first.ID
	if got := read(thread, "", 5); got != "ada: the harbour first | ada: in the thread" {
		t.Errorf("%q", got)
	}
	for words, want := range map[string]string{
		"HARBOUR": "ada: the harbour first", "from:ada -harbour": "", "first harbour": "ada: the harbour first", "mountain": "",
	} {
		found, err := w.c.Search(t.Context(), w.group(), words, 5)
		if err != nil || texts(found) != want {
			t.Errorf("%q: %q %v", words, texts(found), err)
		}
	}
	for _, wrong := range []string{"7", strings.Repeat("z", 27)} {
		if _, err := w.c.Read(t.Context(), w.group(), wrong, 5); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("before %q: %v", wrong, err)
		}
		if err := w.c.Pin(t.Context(), w.group(), wrong, true); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("pin %q: %v", wrong, err)
		}
	}
	w.Kick(w.town)
	_, err = w.c.Read(t.Context(), w.group(), "", 5)
	if !errors.Is(err, channel.ErrRefused) || !strings.Contains(err.Error(), "add it to the team") {
		t.Errorf("out of the channel: %v", err)
	}
}
