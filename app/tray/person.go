package main

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/app/hotkey"
	"github.com/hearth-assistant/hearth/app/power"
	"github.com/hearth-assistant/hearth/app/tray/menu"
	"github.com/hearth-assistant/hearth/app/tray/notice"
	"github.com/hearth-assistant/hearth/app/tray/watch"
)

// person is what the settings of whoever sits here ask of this program, beside
// notifications: a key for everywhere, and that the computer stays awake.
type person struct {
	key     string // as it was set; listened for, or refused
	chord   string // as it is written, once the key is ours
	unkey   context.CancelFunc
	awake   bool
	release func()
	refused bool // keeping it awake, so that it is said once
}

// Shorter sleep is not worth a word.
const worthTelling = 10 * time.Minute

// rested tells of a time in which the computer slept.
func (t *tray) rested(ctx context.Context, from, to time.Time) {
	t.log.Info("the computer slept", "from", from, "to", to)
	t.watch.Look() // whatever changed meanwhile
	if to.Sub(from) >= worthTelling {
		select {
		case t.naps <- [2]time.Time{from, to}:
		case <-ctx.Done():
		}
	}
}

// follow does what new settings say.
func (t *tray) follow(ctx context.Context, wg *sync.WaitGroup, s watch.Settings) {
	t.rules = rules(s)
	t.me.awake = s.KeepAwake
	key := cmp.Or(s.QuickKey, hotkey.Default)
	if key == t.me.key {
		return
	}
	if t.me.unkey != nil {
		t.me.unkey()
		t.me.unkey = nil
	}
	t.me.key, t.me.chord = key, ""
	if key == "off" {
		return
	}
	chord, err := hotkey.Parse(key)
	if err != nil {
		wg.Go(func() { t.tell(ctx, t.desk.Words.Say("note.key"), err.Error()) })
		return
	}
	here, cancel := context.WithCancel(ctx)
	t.me.unkey = cancel
	wg.Go(func() { t.listen(here, chord, s.QuickKey != "") })
}

// listen waits for the key. Why there is none is told to whoever chose one; the
// key that nobody chose is not missed.
func (t *tray) listen(ctx context.Context, chord hotkey.Chord, chosen bool) {
	err := hotkey.Listen(ctx, chord, func() { offer(t.chords, chord.String()) }, func() { t.click(menu.Action{Verb: menu.Ask}) })
	if ctx.Err() != nil {
		return
	}
	t.log.Warn("the key for a quick question", "key", chord, "err", err)
	if chosen || errors.Is(err, hotkey.ErrTaken) {
		words := t.desk.Words
		t.tell(ctx, words.Say("note.key.none"), words.Say("note.key.why", "key", chord.String(), "why", err.Error()))
	}
}

// rest keeps the computer awake while something is worked on, if that is wanted.
func (t *tray) rest(ctx context.Context, s menu.State) {
	want := t.me.awake && s.Link == menu.Ready && len(s.Working) > 0
	switch {
	case want && t.me.release == nil && !t.me.refused:
		release, err := power.Hold(ctx, powers(), "Hearth is working on an answer")
		if err != nil {
			t.log.Warn("keep the computer awake", "err", err)
			t.me.refused = true
			return
		}
		t.me.release = release
	case !want && t.me.release != nil:
		t.me.release()
		t.me.release = nil
	}
}

// woke is the note about a nap, unless nothing may pop up.
func (t *tray) woke(ctx context.Context, wg *sync.WaitGroup, nap [2]time.Time) {
	if t.rules.Level == notice.All && !t.rules.Quiet(time.Now()) {
		wg.Go(func() { t.note(ctx, t.desk.Woke(nap[0], nap[1])) })
	}
}
