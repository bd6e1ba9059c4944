//go:build desktop && linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/app/desktoptest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// These tests run the real program against a real gateway, X server and
// session bus. The bus's icon host is the test itself, so that a row can be
// read and pressed. build/test starts the display and the bus.
func desktop(t *testing.T) {
	t.Helper()
	desktoptest.Need(t, desktoptest.Session()...)
}

const watcher = "org.kde.StatusNotifierWatcher"

func TestTheIconStartsAGatewayAnswersRequestsAndEndsIt(t *testing.T) {
	desktop(t)
	h := newHost(t)
	p := newProgram(t)
	p.start()
	i := h.icon(t)
	i.until("Ready")
	i.shows("ready")
	if p.gatewayPID() == 0 {
		t.Fatal("no gateway runs")
	}

	// The guide runs the tool that it is told to: a command asks first.
	var sent json.RawMessage
	p.call(protocol.MethodChatSend, map[string]any{"sessionKey": "agent:main:main", "message": `/tool exec {"command": "touch pressed"}`,
		"idempotencyKey": "one"}, &sent)
	i.until("Needs you: 1 request")
	i.shows("needs-you")
	i.press("Allow: touch pressed > Allow once")
	i.until("Ready")
	i.shows("ready")
	if _, err := os.Stat(filepath.Join(p.home, "Hearth", "pressed")); err != nil {
		t.Errorf("the command that was allowed did not run: %v", err)
	}
	i.until("Recent > /tool exec")

	i.press("Start at login")
	i.until("✓ Start at login")
	if _, err := os.Stat(filepath.Join(p.home, ".config", "autostart", "hearth.desktop")); err != nil {
		t.Error(err)
	}
	i.press("✓ Start at login")
	i.until("Start at login")

	i.press("Pause > Tools only")
	i.until("Paused")
	i.shows("paused")
	i.press("Resume > Resume now")
	i.until("Ready")

	// A gateway that is killed is there again.
	first := p.gatewayPID()
	kill(t, first)
	i.until("Not running")
	i.until("Ready")
	if now := p.gatewayPID(); now == first || now == 0 {
		t.Errorf("the gateway has process %d, before %d", now, first)
	}

	last := p.gatewayPID()
	i.press("Quit Hearth")
	if err := p.ended(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if running(last) {
		t.Error("the gateway still runs")
	}
}

// A gateway of somebody else is used, and goes on when the icon is gone.
func TestTheIconAttachesToAGatewayThatRuns(t *testing.T) {
	desktop(t)
	h := newHost(t)
	p := newProgram(t)
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	g := exec.Command(filepath.Join(dir, "hearth"), "gateway", "--quiet")
	g.Env = []string{"HOME=" + p.home, "HEARTH_HOME=" + string(p.dir), "PATH=" + os.Getenv("PATH")}
	if err := g.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Process.Kill(); _ = g.Wait() })
	for range 200 {
		if p.gatewayPID() != 0 {
			break
		}
		desktoptest.Pause(t, 50*time.Millisecond)
	}
	p.start()
	i := h.icon(t)
	i.until("Ready")

	second := newProgramIn(t, p)
	second.start()
	if err := second.ended(); err == nil || !strings.Contains(second.log.String(), "already in the menu bar") {
		t.Errorf("a second icon: %v, %s", err, second.log)
	}

	i.press("Quit (Hearth goes on")
	if err := p.ended(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if !running(g.Process.Pid) {
		t.Error("the gateway was ended")
	}
}

func TestFault_NoDisplayAndNoBus(t *testing.T) {
	desktop(t)
	p := newProgram(t)
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for _, env := range [][]string{{"DBUS_SESSION_BUS_ADDRESS=" + os.Getenv("DBUS_SESSION_BUS_ADDRESS")},
		{"DISPLAY=" + os.Getenv("DISPLAY")}} {
		cmd := exec.Command(filepath.Join(dir, "hearth-tray"))
		cmd.Env = append(env, "HOME="+p.home, "HEARTH_HOME="+string(p.dir))
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "hearth gateway") {
			t.Errorf("%v: %v, %s", env, err, out)
		}
	}
}

func TestFault_F_GW_TheTrayIsKilledAndTheGatewayEndsWithIt(t *testing.T) {
	desktop(t)
	h := newHost(t)
	p := newProgram(t)
	p.start()
	h.icon(t).until("Ready")
	pid := p.gatewayPID()
	_ = p.cmd.Process.Kill()
	for range 200 {
		if !running(pid) {
			return
		}
		desktoptest.Pause(t, 50*time.Millisecond)
	}
	t.Fatal("the gateway outlived the icon")
}

// The icon speaks the language of the system, and goes on in English where there is
// no word of it.
func TestTheIconSpeaksTheLanguageOfTheSystem(t *testing.T) {
	desktop(t)
	for locale, rows := range map[string][3]string{
		"de_AT.UTF-8": {"Bereit", "Pause > Nur Werkzeuge", "Hearth beenden"},
		"ar_EG.UTF-8": {"جاهز", "إيقاف مؤقت > الأدوات فقط", "إنهاء Hearth"},
		"sv_SE.UTF-8": {"Ready", "Pause > Tools only", "Quit Hearth"},
	} {
		t.Run(locale, func(t *testing.T) {
			h := newHost(t)
			p := newProgram(t)
			p.env = []string{"LANG=" + locale}
			p.start()
			i := h.icon(t)
			i.until(rows[0])
			i.press(rows[1])
			i.shows("paused")
			i.press(rows[2])
			if err := p.ended(); err != nil {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}
