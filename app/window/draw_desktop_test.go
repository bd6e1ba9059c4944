//go:build desktop && linux

package window

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The page draws, whatever driver this system has.
func TestPageDraws(t *testing.T) {
	needDesktop(t)
	s := show(t, built(t, "hearth", "hearth-window"), home(t))
	s.until("the page", `document.querySelector("#composer") && !document.querySelector(".banner.link")`)
	s.until("a picture drawn by the page",
		`(() => { const c = document.createElement("canvas").getContext("2d"); c.fillRect(0, 0, 9, 9); return c.getImageData(1, 1, 1, 1).data[3] === 255; })()`)
}

// What programs that the window starts get is Go's environment.
func TestOtherProgramsAreNotToldHowToDraw(t *testing.T) {
	inSoftware()
	if slices.ContainsFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "WEBKIT_") }) {
		t.Error("how WebKit draws is told to others")
	}
}
