package main

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/app/notify"
	"github.com/hearth-assistant/hearth/app/tray/menu"
	"github.com/hearth-assistant/hearth/app/tray/notice"
	"github.com/hearth-assistant/hearth/app/tray/watch"
)

// minuteOfDay reads the "22:00" of the settings, which have checked it.
func minuteOfDay(s string) int {
	at, err := time.Parse("15:04", s)
	if err != nil {
		return 0 // "24:00", and nothing
	}
	return at.Hour()*60 + at.Minute()
}

func rules(s watch.Settings) notice.Rules {
	r := notice.Rules{Level: s.Notifications}
	if q := s.QuietHours; q.Start != "" && q.End != "" {
		r.Start, r.End = minuteOfDay(q.Start), minuteOfDay(q.End)
	}
	return r
}

// notice shows what a new state asks for and takes away what is settled.
func (t *tray) notice(ctx context.Context, wg *sync.WaitGroup, s menu.State) {
	c := t.desk.State(s, t.rules, time.Now())
	if len(c.Show)+len(c.Withdraw) == 0 {
		return
	}
	wg.Go(func() {
		for _, key := range c.Withdraw {
			t.notes.Withdraw(ctx, key)
		}
		for _, n := range c.Show {
			t.note(ctx, n)
		}
	})
}

// note shows a note. The icon shows the same, so a desktop without
// notifications is no fault.
func (t *tray) note(ctx context.Context, n notify.Note) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := t.notes.Show(ctx, n); err != nil && !errors.Is(err, notify.ErrNone) && ctx.Err() == nil {
		t.log.Warn("a notification", "err", err)
	}
}

// tell says something that the person just asked for, or must know.
func (t *tray) tell(ctx context.Context, title, text string) {
	if err := t.notes.Show(ctx, notify.Note{Key: "said", Title: title, Text: text}); err != nil {
		alert(title, text)
	}
}

// chosen does what a button of a note says.
func (t *tray) chosen(ctx context.Context, wg *sync.WaitGroup, c notify.Choice) {
	a, reply := notice.Do(c)
	if reply == "" {
		t.do(ctx, wg, a)
		return
	}
	once := rand.Text() // sent again by nobody
	wg.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		if err := t.watch.Say(ctx, a.Arg, reply, once); err != nil {
			t.log.Error("a reply", "err", err)
			t.tell(ctx, t.desk.Words.Say("note.reply.failed"), err.Error())
		}
	})
}
