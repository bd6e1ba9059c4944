package window

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	view "github.com/wailsapp/wails/v2/pkg/runtime"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// place is where the window was when it was closed.
type place struct {
	Width  int  `json:"width"`
	Height int  `json:"height"`
	X      int  `json:"x"`
	Y      int  `json:"y"`
	Placed bool `json:"placed"`
}

func (w *window) file() string { return filepath.Join(string(w.dir), "window.json") }

// remembered is the last place, or a good first one. A file that makes no
// sense is no reason not to open.
func (w *window) remembered() place {
	first := place{Width: firstWidth, Height: firstHeight}
	if w.quick {
		return place{Width: quickWidth, Height: quickHeight}
	}
	b, err := os.ReadFile(w.file())
	if err != nil {
		return first
	}
	var p place
	if json.Unmarshal(b, &p) != nil || p.Width < minWidth || p.Height < minHeight || p.Width > 20_000 || p.Height > 20_000 {
		return first
	}
	if p.X < -20_000 || p.X > 20_000 || p.Y < -20_000 || p.Y > 20_000 {
		p.Placed = false
	}
	return p
}

// remember keeps the place. A window that fills the screen is left out: it has
// no size of its own.
func (w *window) remember(ctx context.Context) {
	if w.quick {
		return // it comes up in the middle, as small as it was
	}
	if view.WindowIsMaximised(ctx) || view.WindowIsFullscreen(ctx) {
		return
	}
	p := place{Placed: true}
	p.Width, p.Height = view.WindowGetSize(ctx)
	p.X, p.Y = view.WindowGetPosition(ctx)
	if b, err := json.Marshal(p); err == nil {
		_ = statedir.WriteFile(w.file(), b) // the next window opens somewhere else, no more
	}
}
