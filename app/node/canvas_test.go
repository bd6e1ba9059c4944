package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A page is shown in one window, which goes where it is told, and ends with the
// connection's host. Nothing but pages of the web is shown.
func TestCanvas(t *testing.T) {
	var said string
	r := newRig(t, func(o *Options, _ *Settings) {
		base := filepath.Dir(string(o.Folder.Dir))
		said = filepath.Join(base, "said")
		o.Window = filepath.Join(base, "window")
		if err := os.WriteFile(o.Window, []byte("#!/bin/sh\necho \"$1 $2 $SECRET_TOKEN\" >>"+said+"\nwhile read -r l; do echo \"$l\" >>"+said+
			"; done\necho end >>"+said+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		o.Environ = append(o.Environ, "DISPLAY=:99")
	}).start().join()
	until := func(text string) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; <-time.After(5 * time.Millisecond) {
			b, _ := os.ReadFile(said)
			if string(b) == text {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the window was told %q, want %q", b, text)
			}
		}
	}
	var ok map[string]any
	r.ok("canvas.present", map[string]any{"url": "https://example.org/a?b=c d"}, &ok)
	until("--canvas https://example.org/a?b=c d \n")
	r.ok("canvas.navigate", map[string]any{"url": "http://192.168.1.5:8080/x"}, &ok)
	until("--canvas https://example.org/a?b=c d \nhttp://192.168.1.5:8080/x\n")
	for _, bad := range []string{"", "file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "https://user:pw@example.org",
		"wails://wails", "about:blank", "http:///x", "https://a\nhttps://b"} {
		r.fails("canvas.navigate", map[string]any{"url": bad}, "INVALID_REQUEST", "address of the web")
	}
	r.ok("canvas.hide", nil, &ok)
	r.ok("canvas.hide", nil, &ok)
	b, _ := os.ReadFile(said)
	if strings.Contains(string(b), "canary") || strings.Contains(string(b), "passwd") {
		t.Errorf("%s", b)
	}
	r.ok("canvas.present", map[string]any{"url": "https://example.org/"}, &ok) // still shown when the host ends
}

func TestWithoutADesktop(t *testing.T) {
	r := newRig(t, func(o *Options, s *Settings) {
		o.Window = "/bin/true"
		for _, what := range []string{"screen", "camera", "location"} {
			s.Set(what, true)
		}
	}).start().join()
	r.fails("canvas.present", map[string]any{"url": "https://example.org"}, "CANVAS_UNAVAILABLE", "nobody is logged in")
	r.fails("screen.snapshot", nil, "SCREEN_UNAVAILABLE", "nobody is logged in")
	r.fails("system.notify", map[string]any{"title": "x"}, "UNAVAILABLE", "no desktop session")
	r.fails("system.notify", map[string]any{"title": " \x1b "}, "INVALID_REQUEST", "title or body")
}
