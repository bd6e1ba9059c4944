package messaging

import (
	"context"
	"errors"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command/menu"
)

const (
	// menuLook is how often is looked for accounts that connected, and menuRest how
	// long one is left alone whose network did not take its menu.
	menuLook = 2 * time.Second
	menuRest = 10 * time.Minute
	menuTime = 30 * time.Second
)

// shown is what became of an account's menu.
type shown struct {
	commands []channel.Command
	again    time.Time // zero: it was taken
}

// menus gives every account that is connected the commands for its network's menu, until
// ctx ends: once, and again when they are others.
func (f *feature) menus(ctx context.Context) {
	told := map[channel.Channel]shown{}
	tick := time.NewTicker(menuLook)
	defer tick.Stop()
	for {
		f.tellMenus(ctx, told)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (f *feature) tellMenus(ctx context.Context, told map[channel.Channel]shown) {
	all := f.o.Networks.All()
	live := make(map[channel.Channel]bool, len(all))
	for _, ch := range all {
		live[ch] = true
		m, can := channel.AsMenu(ch)
		r, tells := ch.(channel.Reporter)
		if !can || tells && r.Status().State != channel.Receiving {
			continue
		}
		commands := menu.Of(f.o.Dispatch.Commands().All())
		was, known := told[ch]
		if known && menu.Same(was.commands, commands) && (was.again.IsZero() || f.o.Now().Before(was.again)) {
			continue
		}
		ask, cancel := context.WithTimeout(ctx, menuTime)
		err := m.Menu(ask, commands)
		cancel()
		now := shown{commands: commands}
		if err != nil && ctx.Err() == nil {
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
		if !live[ch] {
			delete(told, ch)
		}
	}
}
