package window

import (
	"fmt"
	"runtime"
)

// The small window is for a question and its answer: the same page, narrow,
// above the others, gone with Escape.
const quickWidth, quickHeight = 440, 560

func (w *window) title() string {
	if w.quick {
		return "Ask Hearth"
	}
	return "Hearth"
}

// name tells the windows of two state folders, and the small ones, apart.
func (w *window) name() string {
	if w.quick {
		return "org.hearth.quick." + id(string(w.dir))
	}
	return "org.hearth.window." + id(string(w.dir))
}

// script is what a page needs to know of the window around it.
func (w *window) script() string {
	begin := fmt.Sprintf("window.hearthLoader = %q;", loaderAt())
	if w.quick {
		begin += "window.hearthQuick = true;"
	}
	return begin + shell
}

// loaderAt is where Wails serves the page that starts Hearth.
func loaderAt() string {
	if runtime.GOOS == "windows" {
		return "http://wails.localhost/"
	}
	return "wails://wails/"
}
