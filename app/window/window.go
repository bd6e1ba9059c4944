// Package window is a native window on the gateway's own page, drawn by the
// system's web view. It holds a loader page and nothing of Hearth: it asks the
// gateway for a link that lets it in once, and goes there. Where there is no
// gateway it starts the program that keeps one.
//
// Closing the window ends the process, so that an idle Hearth pays for none.
package window

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/menu"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"
	view "github.com/wailsapp/wails/v2/pkg/runtime"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

//go:embed loader
var loader embed.FS

//go:embed shell.js
var shell string

// icon is for desktops that find no installed one, as when it runs from a checkout.
//
//go:embed hearth.png
var icon []byte

// Main opens the window and returns the exit code when it was closed. args may
// name a place of the page (chat/KEY, settings/PART, undelivered) or be a
// hearth:// link.
func Main(ctx context.Context, version string, args []string) int {
	flags := flag.NewFlagSet("hearth-window", flag.ContinueOnError)
	show := flags.Bool("version", false, "print the version")
	quick := flags.Bool("quick", false, "a small window for a question, above the others")
	page := flags.String("canvas", "", "show this page of the web, then those that come as lines of standard input")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *show {
		fmt.Println("hearth-window", version)
		return 0
	}
	if *page != "" {
		if err := showCanvas(*page, os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, "hearth-window:", err)
			return 1
		}
		return 0
	}
	if err := open(ctx, version, flags.Arg(0), *quick); err != nil {
		fmt.Fprintln(os.Stderr, "hearth-window:", err)
		return 1
	}
	return 0
}

// minimum sizes leave the page usable: it is made for 360 pixels and more.
const (
	minWidth, minHeight = 380, 420
	firstWidth          = 1080
	firstHeight         = 760
)

func open(ctx context.Context, version, where string, quick bool) error {
	if err := preflight(); err != nil {
		return err
	}
	dir, err := statedir.Locate(os.Getenv)
	if err != nil {
		return err
	}
	if err := dir.Ensure(); err != nil {
		return err
	}
	pages, err := fs.Sub(loader, "loader")
	if err != nil {
		return err
	}
	w := &window{dir: dir, version: version, quick: quick}
	if quick && where == "" {
		where = "new" // its own chat: it waits behind no other
	}
	w.follow(ctx, where)
	size := w.remembered()
	err = wails.Run(&options.App{
		Title: w.title(), AlwaysOnTop: quick, Width: size.Width, Height: size.Height, MinWidth: minWidth, MinHeight: minHeight,
		BackgroundColour: options.NewRGB(26, 23, 21),
		AssetServer:      &assetserver.Options{Assets: pages, Middleware: w.boot},
		Menu:             w.menu(),
		// The page may ask for a link to be opened in the browser, by Wails' own
		// message; nothing of ours is bound.
		BindingsAllowedOrigins: "http://127.0.0.1:*",
		SingleInstanceLock: &options.SingleInstanceLock{
			UniqueId: w.name(),
			OnSecondInstanceLaunch: func(d options.SecondInstanceData) {
				view.WindowUnminimise(w.ctx)
				view.Show(w.ctx)
				if len(d.Args) > 0 && !quick {
					w.follow(ctx, d.Args[len(d.Args)-1])
				}
			},
		},
		OnStartup: func(c context.Context) {
			w.ctx = c
			repairSignals(c)
			if size.Placed {
				view.WindowSetPosition(c, size.X, size.Y)
			}
		},
		OnDomReady: func(c context.Context) {
			view.WindowExecJS(c, w.script())
			w.once.Do(func() { go w.ask(ctx) }) // a dialog waits for its person
		},
		OnBeforeClose: func(c context.Context) bool {
			w.remember(c)
			return false
		},
		Linux: &linux.Options{ProgramName: "hearth-window", Icon: icon, WebviewGpuPolicy: linux.WebviewGpuPolicyNever},
		Mac:   &mac.Options{OnUrlOpen: func(link string) { w.follow(ctx, link) }},
	})
	if err != nil {
		return fmt.Errorf("open the window: %w", err)
	}
	return nil
}

// window is the one window of this process.
type window struct {
	dir     statedir.Dir
	version string
	where   string
	ctx     context.Context // of Wails' calls, from its start on
	quick   bool
	once    sync.Once
	asks    offer // to be asked once there is a window
}

// visit shows another place in the window that is open.
func (w *window) visit(ctx context.Context, where string) {
	if where == "" || w.ctx == nil {
		return
	}
	link, err := w.link(ctx, where)
	if err != nil {
		return // the page that is shown says what is wrong with the gateway
	}
	view.WindowExecJS(w.ctx, fmt.Sprintf("location.replace(%q);location.reload()", link))
}

// menu is the system's on macOS, where copying and pasting need one.
func (w *window) menu() *menu.Menu {
	if runtime.GOOS != "darwin" {
		return nil
	}
	return menu.NewMenuFromItems(menu.AppMenu(), menu.EditMenu(), menu.WindowMenu())
}

var errNoDisplay = errors.New("there is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set), so there is no window; run hearth " +
	"gateway, and open its link in a browser")

// preflight looks before GTK does, which ends the process without a word.
func preflight() error {
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return errNoDisplay
	}
	inSoftware()
	return nil
}
