package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pane is the terminal chat in a real terminal: tmux, without a person's
// settings.
type pane struct {
	t      *testing.T
	socket string
	status string // the file with the program's exit code, once it has ended
}

// pane starts `hearth tui` in w times h cells.
func (h *house) pane(w, height string, args ...string) *pane {
	h.t.Helper()
	return h.terminal(w, height, append([]string{"tui"}, args...)...)
}

// terminal starts hearth in a terminal of w times h cells.
func (h *house) terminal(w, height string, args ...string) *pane {
	h.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "" {
			h.t.Skip("tmux is not installed; on Debian: apt-get install tmux")
		}
		h.t.Fatal("tmux is missing: ", err)
	}
	dir := h.t.TempDir()
	p := &pane{h.t, filepath.Join(dir, "s"), filepath.Join(dir, "status")}
	// tmux sometimes misses how a program ended; a shell does not. What it said last stays
	// on the screen.
	words := []string{"-f", os.DevNull, "new-session", "-d", "-x", w, "-y", height, "sh", "-c", `"$@"; echo $? >"$0"; exec cat`,
		p.status, "hearth"}
	cmd := exec.CommandContext(h.t.Context(), "tmux", append([]string{"-S", p.socket}, append(words, args...)...)...)
	cmd.Env = append(h.hearth().Env, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "SHELL=/bin/sh")
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("tmux: %v %s", err, out)
	}
	h.t.Cleanup(func() {
		_ = exec.CommandContext(context.WithoutCancel(h.t.Context()), "tmux", "-S", p.socket, "kill-server").Run()
	})
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.CommandContext(p.t.Context(), "tmux", append([]string{"-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %v: %v %s", args, err, out)
	}
	return string(out)
}

// keys presses keys as tmux names them; other words are typed.
func (p *pane) keys(names ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys"}, names...)...)
}

func (p *pane) screen() string { return p.tmux("capture-pane", "-p") }

// until waits for a screen that holds every text, and none that begins with
// "!".
func (p *pane) until(parts ...string) {
	p.t.Helper()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	deadline := time.After(30 * time.Second)
	for {
		s := p.screen()
		ok := true
		for _, part := range parts {
			not, absent := strings.CutPrefix(part, "!")
			ok = ok && strings.Contains(s, not) != absent
		}
		if ok {
			return
		}
		select {
		case <-retry.C:
		case <-deadline:
			p.t.Fatalf("the screen never was %q:\n%s", parts, s)
		}
	}
}

// ended waits for the end of the program and looks at its exit code.
func (p *pane) ended(code string) {
	p.t.Helper()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	deadline := time.After(30 * time.Second)
	for {
		if got, err := os.ReadFile(p.status); err == nil && strings.HasSuffix(string(got), "\n") {
			if strings.TrimSpace(string(got)) != code {
				p.t.Fatalf("the program ended with %q, not with %s", got, code)
			}
			return
		}
		select {
		case <-retry.C:
		case <-deadline:
			p.t.Fatalf("the program did not end:\n%s", p.screen())
		}
	}
}

// The terminal chat from end to end: send, stream, queue, change and take back
// what waits, stop, commands, resizing, and leaving.
func TestTUI(t *testing.T) {
	h := newHouse(t, "stream-300-20")
	h.gateway()
	p := h.pane("80", "24")
	p.until("Say something.", "connected")
	p.keys("count", "Enter")
	p.until("You ● answering", "re: count", "w5 ")
	p.keys("behind", "Tab")
	p.until("◷ behind", "1 waiting")
	p.keys("M-Up")
	p.until("✎ behind")
	p.keys(" it", "Enter")
	p.until("◷ behind it")
	p.keys("another", "Tab")
	p.until("2 waiting")
	p.keys("C-x")
	p.until("1 waiting", "◷ behind it")
	p.keys("Escape")
	p.until("■ stopped", "!waiting", "!Esc stops")
	p.keys("/model scripted/echo", "Enter")
	p.until("This session now uses", "scripted/echo")
	p.keys("last words", "Enter")
	p.until("echo: last words", "You ✓")
	p.tmux("resize-window", "-x", "110", "-y", "30")
	p.until("Sessions Ctrl+B", "echo: last words")
	p.tmux("resize-window", "-x", "40", "-y", "12")
	p.until("!Sessions", "echo: last words")
	p.keys("?")
	p.until("Keys", "stop the answer")
	p.keys("q")
	p.keys("C-n")
	p.until("Say something.")
	p.keys("new here", "Enter")
	p.until("re: new here")
	p.keys("C-c")
	p.ended("0")
}

// The gateway is killed in the middle of an answer, and messages are written
// while it is away: the screen ends up with what the new gateway has, every
// message once, in order.
func TestFault_F_CRASH_02_TUIOverAKill(t *testing.T) {
	h := newHouse(t, "echo")
	gw := h.gateway()
	p := h.pane("100", "40")
	p.until("connected")
	p.keys("/model scripted/stream-400-20", "Enter")
	p.until("This session now uses")
	p.keys("first", "Enter")
	p.until("w70 ")
	p.keys("queued", "Tab")
	p.until("◷ queued")
	p.keys("/model scripted/echo", "Enter")
	p.until("now uses scripted/echo")
	h.kill(gw)
	p.until("offline")
	p.keys("while away", "Enter")
	p.until("○ while away")
	h.gateway()
	p.until("■ interrupted", "echo: queued", "echo: while away", "connected", "!waiting", "!● answering")
	s := p.screen()
	for _, once := range []string{"re: first", "echo: queued", "echo: while away"} {
		if strings.Count(s, once) != 1 {
			t.Errorf("%q is there %d times:\n%s", once, strings.Count(s, once), s)
		}
	}
	if strings.Index(s, "echo: queued") > strings.Index(s, "echo: while away") {
		t.Errorf("the order is wrong:\n%s", s)
	}
	for _, text := range []string{"first", "queued", "while away"} {
		if n := h.models.Calls(text); n != 1 {
			t.Errorf("the model was asked %d times about %q", n, text)
		}
	}
}

// Colours are the terminal's own, and none at all when a person does not want
// them; a pipe is told what to use instead.
func TestTUIColour(t *testing.T) {
	h := newHouse(t, "echo")
	h.gateway()
	p := h.pane("80", "24")
	p.until("connected")
	p.keys("hi", "Enter")
	p.until("echo: hi", "✓")
	if s := p.tmux("capture-pane", "-p", "-e"); !strings.Contains(s, "\x1b[1m\x1b[33mHearth") && !strings.Contains(s, "\x1b[1;33mHearth") {
		t.Errorf("no colours: %q", s)
	}
	out, err := h.hearth("tui").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "hearth chat") {
		t.Errorf("in a pipe: %q, %v", out, err)
	}
}
