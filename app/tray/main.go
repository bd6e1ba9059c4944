// Command hearth-tray is the icon in the menu bar. It starts the gateway or
// attaches to the one that runs, shows how it is, asks for decisions, and opens
// the window. What the menu shows is menu's, what the gateway says is watch's;
// drawing needs a desktop and the build tag "desktop".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/jeandeaual/go-locale"

	"github.com/hearth-assistant/hearth/app/autostart"
	"github.com/hearth-assistant/hearth/app/beside"
	"github.com/hearth-assistant/hearth/app/dial"
	"github.com/hearth-assistant/hearth/app/notify"
	"github.com/hearth-assistant/hearth/app/supervise"
	"github.com/hearth-assistant/hearth/app/tray/menu"
	"github.com/hearth-assistant/hearth/app/tray/notice"
	"github.com/hearth-assistant/hearth/app/tray/watch"
	"github.com/hearth-assistant/hearth/frontend/src/i18n"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/release"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version = "0.1.0-dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	open := flag.Bool("open", false, "open the window as soon as Hearth is ready")
	show := flag.Bool("version", false, "print the version")
	flag.Parse()
	if *show {
		fmt.Println("hearth-tray", version)
		return
	}
	if err := run(ctx, log, *open); err != nil {
		fmt.Fprintln(os.Stderr, "hearth-tray:", err)
		os.Exit(1)
	}
}

// errQuit: the person chose to.
var errQuit = errors.New("quit")

func run(ctx context.Context, log *slog.Logger, open bool) error {
	if err := preflight(ctx); err != nil {
		return err
	}
	dir, err := statedir.Locate(os.Getenv)
	if err != nil {
		return err
	}
	if err := dir.Ensure(); err != nil {
		return err
	}
	first, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	unlock, err := dir.Lock(first, "tray")
	if err != nil {
		return errors.New("Hearth is already in the menu bar of this computer. Open its window from there, or run hearth open")
	}
	defer unlock()

	ctx, quit := context.WithCancelCause(ctx)
	defer quit(nil)
	login, err := entry()
	if err != nil {
		return err
	}
	t := &tray{
		login: login, dir: dir, openFirst: open, log: log, quit: func() { quit(errQuit) }, view: newView(),
		changed: make(chan menu.State, 1), clicks: make(chan menu.Action, 8),
		choices: make(chan notify.Choice, 4), answers: make(chan notice.Answer, 4), settings: make(chan watch.Settings, 1),
		naps: make(chan [2]time.Time), chords: make(chan string, 1),
		rules: notice.Rules{Level: notice.Requests}, // until the settings are known
		desk:  notice.Desk{Words: i18n.Open(languages(log)...)},
	}
	t.notes = notifications(t.choose)
	defer t.notes.Close()
	t.watch = watch.New(watch.Options{
		Version: version, Now: time.Now, Changed: t.change,
		Answered: func(a notice.Answer) { offer(t.answers, a) },
		Settings: func(s watch.Settings) { newest(t.settings, s) },
		Dial: func(ctx context.Context, o client.Options) (*client.Client, error) {
			if !dir.Held() { // what a runtime file says then is of a dead one
				return nil, statedir.ErrNotRunning
			}
			return dial.Open(ctx, dir, os.Getenv, o)
		},
	})
	err = t.view.Run(ctx, func() { t.serve(ctx) }, t.click)
	if errors.Is(context.Cause(ctx), errQuit) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// languages are those that the person set for the system, the best first.
func languages(log *slog.Logger) []string {
	list, err := locale.GetLocales()
	if err != nil {
		log.Warn("the language of the system is not known", "err", err)
	}
	return list
}

// entry is this program among those that start at login.
func entry() (autostart.Entry, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return autostart.Entry{}, err
	}
	exe, err := beside.Self()
	if err != nil {
		return autostart.Entry{}, err
	}
	return autostart.Entry{Exe: release.Lasting(exe), Home: home, Config: os.Getenv("XDG_CONFIG_HOME")}, nil
}

// keep keeps a gateway available until ctx ends.
func (t *tray) keep(ctx context.Context) {
	supervise.Run(ctx, supervise.Options{
		Attach: t.watch.Attach,
		Command: func() *exec.Cmd {
			t.watch.Owns(true)
			return gateway()
		},
		Farewell: func() string {
			if t.stay {
				return "again"
			}
			return "quit"
		},
		OnDown: func(why error, next time.Duration) {
			t.watch.Owns(false)
			t.log.Warn("no gateway", "why", why, "next", next)
			t.watch.Down(why)
		},
	})
}
