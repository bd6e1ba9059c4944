//go:build desktop && linux

package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/app/desktoptest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// gone waits for the end of a process.
func gone(t *testing.T, what string, pid int) {
	t.Helper()
	for range 300 {
		if !running(pid) {
			return
		}
		desktoptest.Pause(t, 50*time.Millisecond)
	}
	t.Fatalf("%s still runs", what)
}

func (p *program) port() string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(string(p.dir), "hearth.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "port: ")
	port, _, _ := strings.Cut(rest, " ")
	return port
}

// The X server dies, which ends every program on it without a word: the gateway
// must not stay behind.
func TestFault_TheXServerIsKilled(t *testing.T) {
	desktop(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset")
	x.ExtraFiles = []*os.File{w}
	if err := x.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Process.Kill(); _ = x.Wait() })
	_ = w.Close()
	var display int
	if _, err := fmt.Fscan(r, &display); err != nil {
		t.Fatal(err)
	}
	h := newHost(t)
	p := newProgram(t)
	p.env = []string{fmt.Sprintf("DISPLAY=:%d", display), "XAUTHORITY="}
	p.start()
	h.icon(t).until("Ready")
	pid := p.gatewayPID()
	_ = x.Process.Kill()
	if err := p.ended(); err == nil {
		t.Error("it ended as if it had been asked to")
	}
	gone(t, "the gateway", pid)
}

// Panels are restarted: the icon is there again, and its menu works.
func TestFault_ThePanelIsRestarted(t *testing.T) {
	desktop(t)
	h := newHost(t)
	p := newProgram(t)
	p.start()
	h.icon(t).until("Ready")
	for range 3 {
		if err := h.conn.Close(); err != nil {
			t.Fatal(err)
		}
		h = newHost(t)
		i := h.icon(t)
		i.until("Ready")
		i.press("Pause > Tools only")
		i.until("Paused")
		i.press("Resume > Resume now")
		i.until("Ready")
	}
}

// Another program has the port: it is said, and Hearth comes up by itself once
// it is free.
func TestFault_F_LIFE_02_ThePortIsTaken(t *testing.T) {
	desktop(t)
	h := newHost(t)
	p := newProgram(t)
	l, err := net.Listen("tcp", "127.0.0.1:"+p.port())
	if err != nil {
		t.Fatal(err)
	}
	p.start()
	i := h.icon(t)
	row := "Not running: "
	i.until(row)
	for label := range i.rows() {
		if strings.HasPrefix(label, row) && !strings.Contains(label, p.port()) {
			t.Errorf("it does not say which port: %s", label)
		}
	}
	i.shows("problem")
	_ = l.Close()
	i.until("Ready")
}

// What a gateway left behind that was killed, and whose number and port another
// program has now.
func TestFault_AStaleRuntimeFile(t *testing.T) {
	desktop(t)
	h := newHost(t)
	p := newProgram(t)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	_, port, _ := net.SplitHostPort(other.Addr().String())
	stale := fmt.Sprintf(`{"pid": %d, "url": "http://127.0.0.1:%s", "version": "0", "startedAt": 1}`, os.Getpid(), port)
	if err := os.WriteFile(filepath.Join(string(p.dir), "gateway.json"), []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	p.start()
	h.icon(t).until("Ready")
	if pid := p.gatewayPID(); pid == os.Getpid() || pid == 0 {
		t.Errorf("the gateway has process %d", pid)
	}
}

// A home that cannot be written to: said before anything is drawn.
func TestFault_AReadOnlyHome(t *testing.T) {
	desktop(t)
	p := newProgram(t)
	p.dir = statedir.Dir("/proc/hearth") // nobody can make it, root neither
	p.start()
	if err := p.ended(); err == nil || !strings.Contains(p.log.String(), "/proc/hearth") {
		t.Errorf("%v: %s", err, p.log)
	}
}

// withWindow puts a hearth-window that notes its arguments beside the programs.
func (p *program) withWindow() (args string) {
	p.t.Helper()
	dir, err := built()
	if err != nil {
		p.t.Fatal(err)
	}
	p.bin = desktoptest.Folder(p.t)
	for _, name := range []string{"hearth", "hearth-tray"} {
		if err := os.Link(filepath.Join(dir, name), filepath.Join(p.bin, name)); err != nil {
			p.t.Fatal(err)
		}
	}
	args = filepath.Join(p.bin, "args")
	script := "#!/bin/sh\necho \"$*\" >>" + args + ".new && mv " + args + ".new " + args + "\n"
	if err := os.WriteFile(filepath.Join(p.bin, "hearth-window"), []byte(script), 0o700); err != nil {
		p.t.Fatal(err)
	}
	return args
}

func opened(t *testing.T, args, want string) {
	t.Helper()
	var got []byte
	for range 300 {
		if got, _ = os.ReadFile(args); strings.TrimSpace(string(got)) == want {
			return
		}
		desktoptest.Pause(t, 50*time.Millisecond)
	}
	t.Fatalf("the window was opened with %q, want %q", got, want)
}

// GNOME shows no icons of programs: the window is the way in, and it is said.
func TestFault_ADesktopThatShowsNoIcons(t *testing.T) {
	desktop(t)
	n := newNotes(t)
	p := newProgram(t)
	args := p.withWindow()
	p.start()
	if told := n.titled("Hearth is running"); !strings.Contains(told.Text, "AppIndicator") {
		t.Errorf("%+v", told)
	}
	opened(t, args, "chat")
}

// What the menu opens, and that the gateway can go on without the icon.
func TestTheMenuOpensPlacesAndLeavesTheGatewayThere(t *testing.T) {
	desktop(t)
	h := newHost(t)
	p := newProgram(t)
	args := p.withWindow()
	p.start()
	i := h.icon(t)
	i.until("Ready")
	i.press("Devices > Pair a device…")
	opened(t, args, "settings/people")
	var sent json.RawMessage
	p.call(protocol.MethodChatSend, map[string]any{"sessionKey": "agent:main:main", "message": "hello", "idempotencyKey": "one"}, &sent)
	i.until("Recent > hello")
	i.press("Help > Why…?")
	for range 300 {
		if b, _ := os.ReadFile(args); strings.HasPrefix(string(b), "why/") {
			break
		}
		desktoptest.Pause(t, 50*time.Millisecond)
	}
	if b, _ := os.ReadFile(args); !strings.HasPrefix(string(b), "why/") {
		t.Errorf("the window was opened with %q", b)
	}

	first := p.gatewayPID()
	i.press("Quit the icon, Hearth goes on")
	if err := p.ended(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	now := 0
	for range 300 {
		if now = p.gatewayPID(); now != 0 && now != first && running(now) {
			break
		}
		desktoptest.Pause(t, 50*time.Millisecond)
	}
	if now == 0 || now == first {
		t.Fatal("no gateway runs without the icon")
	}
	kill(t, now)
}
