//go:build linux

package keychain

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// These tests run the real gnome-keyring-daemon on a bus of their own: each
// starts this test binary again under dbus-run-session with a fresh home.

// inSession runs a test of this binary in a session that prepare set up.
func inSession(t *testing.T, test, prepare string) {
	t.Helper()
	for _, tool := range []string{"dbus-run-session", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("HEARTH_REQUIRE_KEYRING") != "" {
				t.Fatalf("%s is missing: %v", tool, err)
			}
			t.Skipf("%s is not installed (Debian: apt-get install dbus gnome-keyring)", tool)
		}
	}
	home := t.TempDir()
	run := filepath.Join(home, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "dbus-run-session", "--", "sh", "-c", prepare+`; exec "$0" -test.run "^$1$" -test.v`, os.Args[0],
		test)
	cmd.Env = append(without(os.Environ(), "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"),
		"HOME="+home, "XDG_DATA_HOME="+home+"/data", "XDG_RUNTIME_DIR="+run, "HEARTH_TEST_SESSION=1")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+test) {
		t.Fatalf("%v\n%s", err, out)
	}
}

func without(env []string, names ...string) (out []string) {
next:
	for _, e := range env {
		for _, n := range names {
			if strings.HasPrefix(e, n+"=") {
				continue next
			}
		}
		out = append(out, e)
	}
	return out
}

func session(t *testing.T) *Keychain {
	t.Helper()
	if os.Getenv("HEARTH_TEST_SESSION") == "" {
		t.Skip("runs inside a session of its own, see inSession")
	}
	return New(Options{Dir: t.TempDir(), Env: os.Getenv, Now: time.Now})
}

// unlocked opens the daemon with a password, which makes its login keyring.
const unlocked = `printf testpw | gnome-keyring-daemon --unlock --components=secrets >/dev/null`

func TestRealKeyring(t *testing.T) {
	inSession(t, "TestSessionReady", unlocked)
}

func TestSessionReady(t *testing.T) {
	k := session(t)
	if s := k.State(t.Context()); s != Ready {
		t.Fatalf("state %s", s)
	}
	for name, v := range map[string]string{
		"models.providers.openai.apiKey": "sk-canary", "odd": "ключ\nline two\x00\"\\", "profile/anthropic:work": strings.Repeat("k", maxItem),
		"large": strings.Repeat("L", 100_000),
	} {
		if err := k.Set(t.Context(), name, secret.New(v)); err != nil {
			t.Fatalf("set %s: %v", name, err)
		}
		if got, err := k.Get(t.Context(), name); err != nil || got.Reveal() != v {
			t.Fatalf("get %s: %d bytes of %d, %v", name, len(got.Reveal()), len(v), err)
		}
	}
	if err := k.Set(t.Context(), "odd", secret.New("second")); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Get(t.Context(), "odd"); err != nil || got.Reveal() != "second" {
		t.Fatalf("replaced: %v", err)
	}
	if list, err := k.List(t.Context()); err != nil || len(list) != 4 {
		t.Fatalf("list: %v, %v", list, err)
	}
	for _, e := range []string{"odd", "large"} {
		if err := k.Delete(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if _, err := k.Get(t.Context(), e); !errors.Is(err, secret.ErrNotFound) {
			t.Errorf("after delete: %v", err)
		}
	}
	if _, err := k.Get(t.Context(), "never"); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("never kept: %v", err)
	}
}

// TestRealKeyringLocked: the keyring exists, and was not opened in this session.
func TestRealKeyringLocked(t *testing.T) {
	inSession(t, "TestSessionLocked", unlocked+`; sleep 0.2; gnome-keyring-daemon --replace --components=secrets >/dev/null 2>&1`)
}

func TestSessionLocked(t *testing.T) { refused(t, Locked, secret.ErrLocked) }

// TestRealKeyringNoCollection: the daemon runs and no keyring was ever made.
func TestRealKeyringNoCollection(t *testing.T) {
	inSession(t, "TestSessionNoCollection", `gnome-keyring-daemon --start --components=secrets >/dev/null 2>&1`)
}

func TestSessionNoCollection(t *testing.T) { refused(t, NoCollection, secret.ErrUnavailable) }

// refused: nothing is read, kept or asked, and at once.
func refused(t *testing.T, want State, err error) {
	k := session(t)
	if s := k.State(t.Context()); s != want {
		t.Fatalf("state %s, want %s", s, want)
	}
	if got := k.Set(t.Context(), "n", secret.New("v")); !errors.Is(got, err) {
		t.Errorf("set: %v", got)
	}
	if list, lerr := k.List(t.Context()); lerr != nil || len(list) != 0 {
		t.Errorf("list: %v %v", list, lerr)
	}
}

func TestNoService(t *testing.T) {
	dir := t.TempDir() // a bus that starts nothing
	conf := `<busconfig><type>session</type><listen>unix:tmpdir=` + dir +
		`</listen><policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`
	if err := os.WriteFile(dir+"/bus.conf", []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon, err := exec.LookPath("dbus-daemon")
	if err != nil {
		if os.Getenv("HEARTH_REQUIRE_KEYRING") != "" {
			t.Fatal(err)
		}
		t.Skip("dbus-daemon is not installed (Debian: apt-get install dbus)")
	}
	cmd := exec.CommandContext(t.Context(), daemon, "--config-file="+dir+"/bus.conf", "--nofork", "--print-address")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	buf := make([]byte, 512)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	env := func(name string) string {
		if name == "DBUS_SESSION_BUS_ADDRESS" {
			return strings.TrimSpace(string(buf[:n]))
		}
		return ""
	}
	if s := New(Options{Dir: dir, Env: env, Now: time.Now}).State(t.Context()); s != NoService {
		t.Errorf("state %s", s)
	}
}

// TestNoBusStartsNone: without a bus nothing is started to look.
func TestNoBusStartsNone(t *testing.T) {
	dir := t.TempDir()
	marker := filepath.Join(dir, "started")
	if err := os.WriteFile(filepath.Join(dir, "dbus-launch"), []byte("#!/bin/sh\ntouch "+marker+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", dir)
	for _, addr := range []string{"", "autolaunch:", "unix:path=" + dir + "/nobody"} {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", addr)
		k := New(Options{Dir: dir, Env: os.Getenv, Now: time.Now})
		if s := k.State(t.Context()); s != NoBus {
			t.Errorf("%q: state %s", addr, s)
		}
		if err := k.Set(t.Context(), "n", secret.New("v")); !errors.Is(err, secret.ErrUnavailable) {
			t.Errorf("%q: %v", addr, err)
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("dbus-launch was run")
	}
}
