//go:build desktop && linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/hearth-assistant/hearth/app/desktoptest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// login is logind, as far as the icon talks to it.
type login struct{ held chan int }

func (l *login) Inhibit(_, _, _, _ string) (dbus.UnixFD, *dbus.Error) {
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		return 0, dbus.MakeFailedError(err)
	}
	l.held <- pipe[0]
	return dbus.UnixFD(pipe[1]), nil
}

// What the settings of a person ask for: the key for a question, a quiet
// desktop, a computer that stays awake. And what is said after sleep.
func TestThePersonsKeyAndThePersonsSleep(t *testing.T) {
	desktop(t)
	h, n := newHost(t), newNotes(t)
	bus, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bus.Close() })
	l := &login{make(chan int, 4)}
	if err := bus.Export(l, "/org/freedesktop/login1", "org.freedesktop.login1.Manager"); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.RequestName("org.freedesktop.login1", dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	p := newProgram(t)
	p.env = []string{"DBUS_SYSTEM_BUS_ADDRESS=" + os.Getenv("DBUS_SESSION_BUS_ADDRESS")}
	args := p.withWindow()
	p.start()
	i := h.icon(t)
	i.until("Ask…  (Ctrl+Alt+Space)")
	press := func(chord string) {
		t.Helper()
		if out, err := exec.Command("xdotool", "key", chord).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	press("ctrl+alt+space")
	opened(t, args, "--quick")

	// Another key, and the computer awake: used at once.
	var set json.RawMessage
	p.call(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{"hearth":{"desktop":{"quickKey":"ctrl+shift+k","keepAwake":true}}}`},
		&set)
	i.until("Ask…  (Ctrl+Shift+K)")
	_ = os.Remove(args)
	press("ctrl+alt+space")
	press("ctrl+shift+k")
	opened(t, args, "--quick")
	p.send(`/tool exec {"command": "touch waits"}`, "one")
	ask := n.titled("Hearth wants to make a file or set its time: ~/Hearth/waits")
	select {
	case <-l.held:
	case <-time.After(20 * time.Second):
		t.Fatal("the computer is not kept awake")
	}
	desktoptest.Pause(t, time.Second)
	if err := n.Press(ask.ID, "deny"); err != nil {
		t.Fatal(err)
	}
	i.until("Ready")
	p.send(`/tool exec {"command": "touch waits2"}`, "two")
	select {
	case <-l.held:
	case <-time.After(20 * time.Second):
		t.Fatal("it was not let go in between")
	}

	// Sleep is noticed. The clock of this machine does not move meanwhile, so it
	// is a short one, which is not worth a word.
	for _, falls := range []bool{true, false} {
		if err := bus.Emit("/org/freedesktop/login1", "org.freedesktop.login1.Manager.PrepareForSleep", falls); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 {
		if strings.Contains(p.log.String(), "the computer slept") {
			break
		}
		desktoptest.Pause(t, 50*time.Millisecond)
	}
	if !strings.Contains(p.log.String(), "the computer slept") {
		t.Error("sleep was not noticed")
	}
	for _, s := range n.All() {
		if strings.Contains(s.Title, "awake again") {
			t.Error("a moment of sleep is told")
		}
	}
	if _, err := os.Stat(filepath.Join(p.home, "Hearth", "waits")); err == nil {
		t.Error("what was refused was done")
	}
}
