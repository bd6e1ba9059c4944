package messaging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command/menu"
	"github.com/hearth-assistant/hearth/gateway/skill"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// menuLook is how often is looked for accounts that connected and settings that
	// changed, and menuRest how long one is left alone whose network did not take its menu.
	menuLook = 2 * time.Second
	menuRest = 10 * time.Minute
	menuTime = 30 * time.Second
	// menuSkills is how often is looked for skills, which are read from their folders.
	menuSkills = time.Minute
)

// shown is what became of an account's menu.
type shown struct {
	commands []channel.Command
	left     []string  // that does not stand in it, as was logged
	again    time.Time // zero: it was taken
}

// registered is the bot of which an account has a menu of ours, by network and account.
var registered = store.NewBucket[string]("channels.menus")

func menuKey(ch channel.Channel) []byte { return []byte(ch.ID() + "\x1f" + ch.Account()) }

// menus gives every account that is connected the commands for its network's menu, until
// ctx ends: once, and again when they are others.
func (f *feature) menus(ctx context.Context) {
	told, skills := map[channel.Channel]shown{}, f.lately()
	tick := time.NewTicker(menuLook)
	defer tick.Stop()
	for {
		f.tellMenus(ctx, told, skills)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// lately finds the skills that a slash calls, and finds them anew after a while.
func (f *feature) lately() func() []skill.Command {
	var found []skill.Command
	var until time.Time
	return func() []skill.Command {
		if now := f.o.Now(); !now.Before(until) {
			found, until = f.o.Dispatch.SkillCommands(), now.Add(menuSkills)
		}
		return found
	}
}

func (f *feature) tellMenus(ctx context.Context, told map[channel.Channel]shown, skills func() []skill.Command) {
	all := f.o.Networks.All()
	for _, ch := range all {
		m, can := channel.AsMenu(ch)
		r, tells := ch.(channel.Reporter)
		if !can || tells && r.Status().State != channel.Receiving {
			continue
		}
		commands, left := f.menuOf(ch, skills)
		was, known := told[ch]
		if !known || !slices.Equal(was.left, left) {
			for _, what := range left {
				f.o.Log.Warn("a command does not stand in the menu: "+what, "channel", ch.ID(), "account", ch.Account())
			}
		}
		if known && menu.Same(was.commands, commands) && (was.again.IsZero() || f.o.Now().Before(was.again)) {
			was.left = left
			told[ch] = was
			continue
		}
		now := shown{commands: commands, left: left}
		if err := f.register(ctx, ch, m, commands); err != nil && ctx.Err() == nil {
			now.again = f.o.Now().Add(menuRest)
			var limit *channel.RateLimit
			if errors.As(err, &limit) {
				now.again = f.o.Now().Add(max(limit.After, time.Second))
			}
			f.o.Log.Warn("the menu of commands was not taken", "channel", ch.ID(), "account", ch.Account(), "err", err)
		}
		told[ch] = now
	}
	for ch := range told {
		if !slices.Contains(all, ch) {
			delete(told, ch)
		}
	}
}

// menuOf is what stands in an account's menu, and what does not and why.
func (f *feature) menuOf(ch channel.Channel, skills func() []skill.Command) ([]channel.Command, []string) {
	wants := f.o.Networks.Menu(ch.ID(), ch.Account())
	w := menu.Wanted{Most: wants.Most, Dashless: wants.Dashless}
	if wants.Native {
		w.Own = f.o.Dispatch.Commands().All()
	}
	if wants.Skills {
		w.Skills = skills()
	}
	for _, c := range wants.Yours {
		w.Added = append(w.Added, channel.Command{Name: c.Name, Description: c.Description})
	}
	return w.Of()
}

// leftOfMenus is what the menus of all accounts lack.
func (f *feature) leftOfMenus() (out []string) {
	for _, ch := range f.o.Networks.All() {
		if _, can := channel.AsMenu(ch); can {
			if _, left := f.menuOf(ch, f.o.Dispatch.SkillCommands); len(left) > 0 {
				out = append(out, fmt.Sprintf("%s (%s), menu of commands: %s", f.o.Networks.Kinds.Label(ch.ID()), ch.Account(),
					strings.Join(left, "; ")))
			}
		}
	}
	return out
}

// register gives a network the menu. One without commands takes ours away, and leaves what
// was never ours: that may be one that a person made.
func (f *feature) register(ctx context.Context, ch channel.Channel, m channel.Menu, commands []channel.Command) error {
	ctx, cancel := context.WithTimeout(ctx, menuTime)
	defer cancel()
	if !f.o.Networks.Menu(ch.ID(), ch.Account()).Registered {
		return m.Menu(ctx, commands)
	}
	bot := ""
	if r, tells := ch.(channel.Reporter); tells {
		bot = r.Status().Bot
	}
	if len(commands) > 0 { // noted first: a crash between both leaves none that nobody takes away
		if err := f.o.Store.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return registered.Put(tx, menuKey(ch), bot) }}); err != nil {
			return fmt.Errorf("note that the menu is Hearth's: %w", err)
		}
		return m.Menu(ctx, commands)
	}
	ours := false
	err := f.o.Store.View(func(tx *store.Tx) error {
		of, ok, err := registered.Get(tx, menuKey(ch))
		ours = ok && of == bot
		return err
	})
	if err != nil || !ours {
		return err
	}
	if err := m.Menu(ctx, nil); err != nil {
		return err
	}
	err = f.o.Store.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return registered.Delete(tx, menuKey(ch)) }})
	if err != nil {
		return fmt.Errorf("note that the menu is gone: %w", err)
	}
	return nil
}
