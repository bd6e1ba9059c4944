//go:build desktop

package main

import (
	"context"
	"embed"
	"sync"
	"time"

	"github.com/getlantern/systray"

	"github.com/hearth-assistant/hearth/app/tray/menu"
)

//go:embed icons
var icons embed.FS

// systrayView draws with getlantern/systray. That can add rows but not take
// them away, so the same rows are made once and then changed or hidden.
type systrayView struct {
	click func(menu.Action)

	mu    sync.Mutex // guards the following
	built bool
	rows  map[string]*row
	icon  menu.Icon
}

type row struct {
	item  *systray.MenuItem
	now   menu.Item
	since time.Time // when what it does changed
}

// A row that does something else since this short a time is not done: the
// person who pressed it had read the other words.
const fresh = 700 * time.Millisecond

func newView() view { return &systrayView{rows: map[string]*row{}} }

func (v *systrayView) Run(_ context.Context, ready func(), click func(menu.Action)) error {
	v.click = click
	done := make(chan struct{})
	systray.Run(func() {
		systray.SetTitle("") // some panels write it beside the icon
		go func() {
			defer close(done)
			ready()
			systray.Quit()
		}()
	}, func() {})
	<-done
	return nil
}

func (v *systrayView) Show(icon menu.Icon, tooltip string, rows []menu.Item) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if icon != v.icon {
		v.icon = icon
		systray.SetTemplateIcon(picture(icon))
	}
	systray.SetTooltip(tooltip)
	v.draw(nil, rows)
	v.built = true
}

func (v *systrayView) draw(under *systray.MenuItem, rows []menu.Item) {
	for _, it := range rows {
		if it.Line {
			if !v.built {
				systray.AddSeparator()
			}
			continue
		}
		r := v.rows[it.ID]
		if r == nil {
			r = &row{now: menu.Item{ID: it.ID}}
			if under == nil {
				r.item = systray.AddMenuItem(label(it.Label), "")
			} else {
				r.item = under.AddSubMenuItem(label(it.Label), "")
			}
			v.rows[it.ID] = r
			go v.follow(r) // as long as the program: systray never closes the channel
		}
		r.become(it)
		v.draw(r.item, it.Sub)
	}
}

// become changes of a row only what differs: every change is a message to the
// panel.
func (r *row) become(it menu.Item) {
	if it.Label != r.now.Label {
		r.item.SetTitle(label(it.Label))
	}
	if it.Off != r.now.Off {
		if it.Off {
			r.item.Disable()
		} else {
			r.item.Enable()
		}
	}
	if it.Hidden != r.now.Hidden {
		if it.Hidden {
			r.item.Hide()
		} else {
			r.item.Show()
		}
	}
	if it.Do != r.now.Do {
		r.since = time.Now()
	}
	r.now = it
}

func (v *systrayView) follow(r *row) {
	for range r.item.ClickedCh {
		v.mu.Lock()
		do, since := r.now.Do, r.since
		v.mu.Unlock()
		if do.Verb != "" && (do.Arg == "" || time.Since(since) > fresh) {
			v.click(do)
		}
	}
}

// Rebuild sends every row to the panel again: some lose updates.
func (v *systrayView) Rebuild() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range v.rows {
		r.item.Hide()
		r.item.SetTitle(label(r.now.Label))
		if !r.now.Hidden {
			r.item.Show()
		}
	}
}
