//go:build desktop && linux

package window

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/app/desktoptest"
)

// A page that the assistant shows: first the one that is named, then those that
// come as lines, until they end. Nothing of ours is on such a page.
func TestCanvas(t *testing.T) {
	needDesktop(t)
	visits := make(chan string, 16)
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			return
		}
		visits <- r.URL.Path
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<script>fetch('/ours-'+String(Boolean(window.hearthShell||window.go||window.runtime||window.wails)))</script>")
	}))
	t.Cleanup(pages.Close)
	seen := func(want ...string) {
		t.Helper()
		for _, w := range want {
			select {
			case got := <-visits:
				if got != w {
					t.Errorf("visited %s, want %s", got, w)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("%s was not visited", w)
			}
		}
	}
	bin, home := built(t, "hearth-window"), desktoptest.Folder(t)
	s := &shown{t: t, home: home, bin: bin}
	cmd := exec.Command(filepath.Join(bin, "hearth-window"), "--canvas", pages.URL+"/one")
	cmd.Env = s.env()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	seen("/one", "/ours-false")
	for _, line := range []string{"file:///etc/passwd", "javascript:fetch('/bad')", pages.URL + "/two?a='\"</script>"} {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	seen("/two", "/ours-false")
	_ = in.Close()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it stays when nobody shows anything any more")
	}
}
