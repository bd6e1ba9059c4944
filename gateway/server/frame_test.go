package server

import (
	"strings"
	"testing"
	"testing/fstest"
)

// A frame in which foreign things are drawn has no origin, and only the one that
// somebody allowed to has a network; nothing else of the page may be framed.
func TestSec_A_UI_20_FramesHaveNoOrigin(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	files := fstest.MapFS{"index.html": file("<!doctype html>"), "frame/artifact.html": file("artifact"),
		"frame/diagram.html": file("diagram"), "frame/other.html": file("other")}
	g := start(t, func(o *Options) { o.Pages = files })
	for name, online := range map[string]bool{"artifact": false, "diagram": false, "online": true} {
		resp := g.ask(t, "GET", "/frame/"+name+".html", "own")
		csp := resp.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "sandbox allow-scripts", "frame-ancestors 'self'", "form-action 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy lacks %s: %s", name, want, csp)
			}
		}
		for _, not := range []string{"allow-same-origin", "allow-popups", "allow-top", "allow-forms", "allow-modals", "http:", "frame-src"} {
			if strings.Contains(csp, not) {
				t.Errorf("%s: the policy has %s: %s", name, not, csp)
			}
		}
		if strings.Contains(csp, "https:") != online || strings.Contains(csp, "connect-src") != online {
			t.Errorf("%s: %s", name, csp)
		}
		if resp.StatusCode != 200 || resp.Header.Get("X-Frame-Options") != "SAMEORIGIN" ||
			!strings.Contains(resp.Header.Get("Permissions-Policy"), "clipboard-write=()") {
			t.Errorf("%s: %d %v", name, resp.StatusCode, resp.Header)
		}
	}
	for _, other := range []string{"/frame/other.html", "/frame/", "/frame/missing.html"} {
		resp := g.ask(t, "GET", other, "own")
		if resp.Header.Get("X-Frame-Options") != "DENY" || strings.Contains(resp.Header.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s is served as a frame: %v", other, resp.Header)
		}
	}
}
