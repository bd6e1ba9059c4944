package window

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	view "github.com/wailsapp/wails/v2/pkg/runtime"
)

// webAddress is one that the window shows: a page of the web and nothing of
// this machine.
func webAddress(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q is not an address of the web", text)
	}
	return u.String(), nil
}

// showCanvas is a window on a page that somebody's assistant shows: first the
// one that is named, then those that come as lines of in. It closes when in
// ends. The page gets nothing of ours: no shell, nothing bound, no Wails.
func showCanvas(first string, in io.Reader) error {
	first, err := webAddress(first)
	if err != nil {
		return err
	}
	if err := preflight(); err != nil {
		return err
	}
	pages, err := fs.Sub(loader, "loader")
	if err != nil {
		return err
	}
	err = wails.Run(&options.App{
		Title: canvasTitle(first), Width: firstWidth, Height: firstHeight, MinWidth: minWidth, MinHeight: minHeight,
		BackgroundColour: options.NewRGB(26, 23, 21),
		AssetServer:      &assetserver.Options{Assets: pages, Middleware: goesTo(first)},
		OnStartup: func(c context.Context) {
			repairSignals(c)
			go follow(c, in)
		},
		Linux: &linux.Options{ProgramName: "hearth-window", WebviewGpuPolicy: linux.WebviewGpuPolicyNever},
	})
	if err != nil {
		return fmt.Errorf("open the window: %w", err)
	}
	return nil
}

// goesTo has the loader page go to an address.
func goesTo(address string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/boot" {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]string{"link": address})
		})
	}
}

// follow goes where the lines say, until they end.
func follow(c context.Context, in io.Reader) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		to, err := webAddress(lines.Text())
		if err != nil {
			fmt.Fprintln(os.Stderr, "hearth-window:", err)
			continue
		}
		view.WindowSetTitle(c, canvasTitle(to))
		quoted, _ := json.Marshal(to) // a text
		view.WindowExecJS(c, "location.replace("+string(quoted)+")")
		view.WindowUnminimise(c)
	}
	view.Quit(c)
}

// canvasTitle says whose page it is, which the page cannot change.
func canvasTitle(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "Shown by your assistant"
	}
	return u.Host + ", shown by your assistant"
}
