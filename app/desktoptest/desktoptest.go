// Package desktoptest is what tests of the desktop's programs share: whether
// there is a desktop at all, a home for the program under test, and moments to
// wait between two looks.
package desktoptest

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Session is what programs need to show something and to be heard.
func Session() []string { return []string{"DISPLAY", "DBUS_SESSION_BUS_ADDRESS"} }

// Need skips the test where a variable is not set, and fails it where build/test
// promised that it is.
func Need(t *testing.T, variables ...string) {
	t.Helper()
	for _, name := range variables {
		if os.Getenv(name) == "" {
			Missing(t, name+" is not set")
		}
	}
}

// Missing skips the test, or fails it where build/test promised a desktop.
func Missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("HEARTH_REQUIRE_DESKTOP") != "" {
		t.Fatal(what)
	}
	t.Skip(what + "; build/test --only desktop has a desktop")
}

// Environ is that of a program with a home and a state folder of its own, on
// this desktop.
func Environ(home, state string) []string {
	env := []string{"HOME=" + home, "HEARTH_HOME=" + state, "TMPDIR=" + home}
	for _, name := range append(Session(), "PATH", "XAUTHORITY", "XDG_RUNTIME_DIR") {
		env = append(env, name+"="+os.Getenv(name))
	}
	return env
}

// Folder is a temporary one that is taken away when nothing writes into it any
// more: what was killed may have left others that end a moment later.
func Folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hearth-desktop-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		again := time.NewTicker(50 * time.Millisecond)
		defer again.Stop()
		for range 200 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			<-again.C
		}
		t.Error(err)
	})
	return dir
}

// Home is a folder with a state folder in it, whose settings are these.
func Home(t *testing.T, settings string) (home, state string) {
	t.Helper()
	home = Folder(t)
	state = filepath.Join(home, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "hearth.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return home, state
}

// Port is a free one.
func Port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// Pause waits, unless the test ends.
func Pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
	case <-time.After(d):
	}
}
