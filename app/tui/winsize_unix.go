//go:build unix

package tui

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/hearth-assistant/hearth/app/tui/picture"
)

// windowPixels is how large the window of a terminal is, as far as it told the
// system. ssh hands it on.
func windowPixels(f *os.File) picture.Size {
	s, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return picture.Size{}
	}
	return picture.Size{W: int(s.Xpixel), H: int(s.Ypixel)}
}
