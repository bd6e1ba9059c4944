package main

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/app/autostart"
	"github.com/hearth-assistant/hearth/app/beside"
	"github.com/hearth-assistant/hearth/app/dial"
	"github.com/hearth-assistant/hearth/app/notify"
	"github.com/hearth-assistant/hearth/app/power"
	"github.com/hearth-assistant/hearth/app/tray/menu"
	"github.com/hearth-assistant/hearth/app/tray/notice"
	"github.com/hearth-assistant/hearth/app/tray/watch"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// view draws an icon and a menu.
type view interface {
	// Run shows the icon and calls ready when rows can be drawn; it returns
	// when ctx has ended and ready has returned. click is told what was chosen.
	Run(ctx context.Context, ready func(), click func(menu.Action)) error
	Show(icon menu.Icon, tooltip string, rows []menu.Item)
	Rebuild()
}

type tray struct {
	dir     statedir.Dir
	log     *slog.Logger
	quit    func()
	view    view
	watch   *watch.Watch
	changed chan menu.State // the newest only
	clicks  chan menu.Action

	notes    *notify.Desktop
	choices  chan notify.Choice
	answers  chan notice.Answer
	settings chan watch.Settings
	desk     notice.Desk
	rules    notice.Rules
	me       person
	naps     chan [2]time.Time
	chords   chan string // the key that is ours

	openFirst bool // the window, as soon as there is a gateway
	stay      bool // a gateway is wanted after the end
	atLogin   bool // this program starts at login
	login     autostart.Entry
}

// gateway is how the gateway is started.
func gateway() *exec.Cmd {
	name, _ := beside.Find("hearth") // starting it says when it is not there
	cmd := exec.Command(name, "gateway", "--quiet", "--lifeline")
	hideConsole(cmd)
	return cmd
}

// change is told every new state; only the newest matters.
func (t *tray) change(s menu.State) { newest(t.changed, s) }

func (t *tray) click(a menu.Action) { offer(t.clicks, a) }

func (t *tray) choose(c notify.Choice) { offer(t.choices, c) }

// newest leaves v in a channel with one place, whatever is there.
func newest[T any](to chan T, v T) {
	for {
		select {
		case to <- v:
			return
		default:
		}
		select {
		case <-to:
		default:
		}
	}
}

// offer leaves v unless those before are still being done.
func offer[T any](to chan T, v T) {
	select {
	case to <- v:
	default:
	}
}

// serve draws states and does what is chosen until ctx ends.
func (t *tray) serve(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	kept := make(chan struct{})
	wg.Go(func() {
		defer close(kept)
		t.keep(ctx)
	})
	defer func() {
		<-kept // the gateway of ours has ended
		if t.stay {
			if err := beside.Start("hearth", "gateway", "--quiet"); err != nil {
				t.log.Error("have the gateway go on", "err", err)
			}
		}
	}()
	wg.Go(func() {
		power.Watch(ctx, powers(), func(from, to time.Time) { t.rested(ctx, from, to) })
	})
	defer t.rest(ctx, menu.State{})
	if !hasHost(ctx) {
		// The icon would be nowhere: the window is the only way in.
		t.openFirst = true
		t.log.Warn("this desktop shows no icons of programs; on GNOME the extension AppIndicator does")
		t.tell(ctx, t.desk.Words.Say("note.running"), t.desk.Words.Say("note.icons"))
	}
	var err error
	if t.atLogin, err = t.login.Enabled(); err != nil {
		t.log.Warn("whether it starts at login is not known", "err", err)
	}
	t.hear(ctx, &wg)
}

// hear shows how things are and does what it is told to, until ctx ends.
func (t *tray) hear(ctx context.Context, wg *sync.WaitGroup) {
	words := t.desk.Words
	var badge menu.Badge
	state := menu.State{Version: version, Own: true}
	for {
		now := time.Now()
		state.AtLogin, state.QuickKey = t.atLogin, t.me.chord
		icon, again := badge.Next(state, now)
		t.view.Show(icon, menu.Tooltip(state, words), menu.Items(state, words, now))
		var later <-chan time.Time
		if again > 0 {
			later = time.After(again)
		}
		select {
		case <-ctx.Done():
			return
		case s := <-t.settings:
			t.follow(ctx, wg, s)
		case t.me.chord = <-t.chords:
		case nap := <-t.naps:
			t.woke(ctx, wg, nap)
		case a := <-t.answers:
			if n, ok := t.desk.Answered(a, t.rules, time.Now()); ok {
				wg.Go(func() { t.note(ctx, n) })
			}
		case c := <-t.choices:
			t.chosen(ctx, wg, c)
		case state = <-t.changed:
			t.notice(ctx, wg, state)
			t.rest(ctx, state)
			if t.openFirst && state.Link == menu.Ready {
				t.openFirst = false
				t.do(ctx, wg, menu.Action{Verb: menu.Open})
			}
		case <-later:
		case a := <-t.clicks:
			t.do(ctx, wg, a)
		}
	}
}

// do does what a row says, without keeping the menu waiting.
func (t *tray) do(ctx context.Context, wg *sync.WaitGroup, a menu.Action) {
	switch a.Verb {
	case menu.QuitAll, menu.QuitIcon:
		t.stay = a.Verb == menu.QuitIcon
		t.quit()
		return
	case menu.Rebuild:
		t.view.Rebuild()
		return
	case menu.AtLogin:
		if err := t.switchLogin(); err != nil {
			t.log.Error("start at login", "err", err)
			wg.Go(func() { t.tell(ctx, "Hearth", err.Error()) })
		}
		return
	}
	wg.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		if err := t.act(ctx, a); err != nil {
			t.log.Error("a row of the menu", "row", a.Verb, "err", err)
			t.tell(ctx, "Hearth", err.Error())
		}
	})
}

// switchLogin turns starting at login on or off.
func (t *tray) switchLogin() error {
	change := t.login.Enable
	if t.atLogin {
		change = t.login.Disable
	}
	if err := change(); err != nil {
		return err
	}
	t.atLogin = !t.atLogin
	return nil
}

func (t *tray) act(ctx context.Context, a menu.Action) error {
	switch a.Verb {
	case menu.Ask:
		if win, ok := beside.Find("hearth-window"); ok {
			return window(win, "--quick")
		}
		return t.open(ctx, "chat")
	case menu.Open:
		return t.open(ctx, place("chat", a.Arg))
	case menu.Settings:
		return t.open(ctx, place("settings", a.Arg))
	case menu.Undelivd:
		return t.open(ctx, "undelivered")
	case menu.Why:
		run, err := t.watch.LastRun(ctx, a.Arg)
		if err != nil {
			return err
		}
		return t.open(ctx, place("why", run))
	case menu.Docs:
		return browse(ctx, docs())
	case menu.CopyAddr:
		return toClipboard(ctx, a.Arg)
	case menu.Bundle:
		text, err := t.watch.Bundle(ctx)
		if err != nil {
			return err
		}
		return toClipboard(ctx, text)
	}
	return t.watch.Act(ctx, a)
}

// open shows the page at a place, in the window or, where there is none, in
// the browser.
func (t *tray) open(ctx context.Context, where string) error {
	if win, ok := beside.Find("hearth-window"); ok {
		return window(win, where)
	}
	link, err := t.watch.Link(ctx)
	if err != nil {
		return err
	}
	return browse(ctx, dial.At(link, where))
}

func window(program, arg string) error {
	cmd := exec.Command(program, arg)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // its zombie is collected; nobody waits for a window
	return nil
}
