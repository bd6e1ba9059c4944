//go:build !unix

package tui

import (
	"os"

	"github.com/hearth-assistant/hearth/app/tui/picture"
)

// windowPixels: only the terminal itself knows.
func windowPixels(*os.File) picture.Size { return picture.Size{} }
