//go:build desktop && linux

package window

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A page that is drawn in software has no use for a graphics driver: neither the
// window nor a process of its web view loads one, and pages that ask for one are
// told that there is none.
func TestNoGraphicsDriverIsLoaded(t *testing.T) {
	needDesktop(t)
	s := show(t, built(t, "hearth", "hearth-window"), home(t))
	s.until("the page", `document.querySelector("#composer") && !document.querySelector(".banner.link")`)
	s.until("a picture drawn by the page", `(() => { const c = document.createElement("canvas").getContext("2d"); c.fillRect(0, 0, 9, 9); return c.getImageData(1, 1, 1, 1).data[3] === 255; })()`)
	if v := webkit(); v != "2.50" {
		t.Skipf("this is WebKit %s: only of 2.50 it is known how to keep its pages from loading one", v)
	}
	s.until("no graphics", `document.createElement("canvas").getContext("webgl") === null`)
	all := processes(s.cmd.Process.Pid)
	if len(all) < 3 {
		t.Fatalf("the window and its web view are %d processes", len(all))
	}
	for _, pid := range all {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil {
			continue // it ended meanwhile
		}
		for _, not := range []string{"libLLVM", "/dri/", "libgallium", "libEGL_mesa"} {
			if strings.Contains(string(maps), not) {
				name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
				t.Errorf("%s loaded %s", strings.TrimSpace(string(name)), not)
			}
		}
	}
}

// What programs that the window starts get is Go's environment.
func TestOtherProgramsAreNotToldHowToDraw(t *testing.T) {
	withoutDriver()
	for _, name := range []string{"GDK_GL", "WEBKIT_WEB_RENDER_DEVICE_FILE", "__EGL_VENDOR_LIBRARY_FILENAMES"} {
		if slices.ContainsFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
			t.Errorf("%s is told to others", name)
		}
	}
}

// processes are a process and those that it started.
func processes(pid int) []int {
	out := []int{pid}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		b, _ := os.ReadFile(list)
		for _, kid := range strings.Fields(string(b)) {
			var n int
			if _, err := fmt.Sscan(kid, &n); err == nil {
				out = append(out, processes(n)...)
			}
		}
	}
	return out
}
