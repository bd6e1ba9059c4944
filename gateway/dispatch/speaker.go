package dispatch

import (
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// speakerOf is who said a turn.
func (d *Dispatcher) speakerOf(turn session.Turn) command.Speaker {
	s := command.Speaker{ID: turn.Sender, Owner: turn.Owner, Chat: channel.Direct}
	r, ok := channel.ParseRoute(turn.Route)
	if !ok {
		return s
	}
	s.Network, s.Label, s.Chat = r.Channel, d.groups.Label(r.Channel), r.Chat
	if c, ok, err := d.contacts.Lookup(r.Channel, r.Account, turn.Sender); err == nil && ok {
		s.Shared, s.Shown = c.Shared, c.Shown
	}
	return s
}
