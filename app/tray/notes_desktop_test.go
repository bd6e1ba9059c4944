//go:build desktop && linux

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/hearth-assistant/hearth/app/desktoptest"
	"github.com/hearth-assistant/hearth/app/notify/notifytest"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// notes is the desktop's notification service.
type notes struct {
	*notifytest.Daemon
	t *testing.T
}

func newNotes(t *testing.T) notes {
	t.Helper()
	c, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	d, err := notifytest.Start(c, "actions", "body", "body-markup", "inline-reply")
	if err != nil {
		t.Fatal(err)
	}
	return notes{d, t}
}

// titled waits for a note with this title.
func (n notes) titled(title string) (note notifytest.Shown) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 20*time.Second)
	defer cancel()
	_, err := n.Until(ctx, func(all []notifytest.Shown) bool {
		for _, s := range all {
			if s.Title == title {
				note = s
				return true
			}
		}
		return false
	})
	if err != nil {
		n.t.Fatalf("no note %q: %v", title, err)
	}
	return note
}

func (n notes) gone() {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 20*time.Second)
	defer cancel()
	if _, err := n.Until(ctx, func(all []notifytest.Shown) bool { return len(all) == 0 }); err != nil {
		n.t.Fatal(err)
	}
}

func (p *program) send(text, once string) {
	p.t.Helper()
	var sent json.RawMessage
	p.call(protocol.MethodChatSend, map[string]any{"sessionKey": "agent:main:main", "message": text, "idempotencyKey": once}, &sent)
}

// page is a client as the page is one, which looks at a chat.
func (p *program) page(looksAt string) *client.Client {
	p.t.Helper()
	c, err := client.Open(p.t.Context(), p.dir, client.Options{Client: protocol.ClientInfo{ID: "hearth-tray", Mode: "ui", Version: "test"},
		Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = c.Close() })
	var ok protocol.OKResult
	if err := c.Call(p.t.Context(), protocol.MethodView, protocol.ViewParams{Key: looksAt}, &ok); err != nil {
		p.t.Fatal(err)
	}
	return c
}

func TestNotesAskTellAndTakeReplies(t *testing.T) {
	desktop(t)
	h, n := newHost(t), newNotes(t)
	p := newProgram(t)
	p.start()
	i := h.icon(t)
	i.until("Ready")

	// A request is allowed in its note.
	p.send(`/tool exec {"command": "touch noted"}`, "one")
	ask := n.titled("Hearth wants to make a file or set its time: ~/Hearth/noted")
	if !strings.HasPrefix(ask.Text, "touch noted\n") {
		t.Errorf("%q", ask.Text)
	}
	desktoptest.Pause(t, time.Second) // a note that came up a moment ago is not done
	if err := n.Press(ask.ID, "allow"); err != nil {
		t.Fatal(err)
	}
	told := n.titled("Hearth answered")
	if _, err := os.Stat(filepath.Join(p.home, "Hearth", "noted")); err != nil {
		t.Errorf("the command that was allowed did not run: %v", err)
	}

	// The reply is sent into the chat, and its answer takes the note's place.
	if err := n.Reply(told.ID, "what is 12.5% of 80?"); err != nil {
		t.Fatal(err)
	}
	if told = n.titled("Hearth answered"); !strings.Contains(told.Text, "10") || told.Has("Allow once") {
		t.Errorf("%+v", told)
	}

	// One that is decided elsewhere goes away; what a person looks at is not
	// told.
	p.page("agent:main:main")
	p.send(`/tool exec {"command": "touch <b>two</b> & three"}`, "two")
	if ask = n.titled("Hearth wants to run a command"); !strings.HasPrefix(ask.Text, "touch &lt;b&gt;two&lt;/b&gt; &amp; three\n") {
		t.Errorf("markup of a command: %q", ask.Text)
	}
	if err := n.Press(told.ID, "none"); err != nil { // it goes away
		t.Fatal(err)
	}
	i.press("Allow: touch <b>two</b> & three > Don’t allow")
	i.until("Ready")
	n.gone()
}
