package gateway

import (
	"crypto/rand"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/internal/random"
)

// Networks is the one list of messaging networks.
func Networks() channel.Kinds {
	return channel.Kinds{
		telegram.Kind(),
	}
}

// openChannels makes what holds the accounts on messaging networks.
func (g *Gateway) openChannels() {
	g.channels = hub.New(hub.Options{Kinds: Networks(), Settings: g.config, Secrets: g.secrets, Now: g.opts.Now, Logger: g.log})
}

// openDelivery wires what goes out to networks and what comes in from them.
func (g *Gateway) openDelivery() {
	g.deliverer = outbound.NewDeliverer(g.store, outbound.DelivererOptions{
		Channels: g.channels.Find, Limits: g.channels.Limits, Now: g.opts.Now, Rand: random.Float, Logger: g.log,
	})
	g.contacts = contact.New(g.store, g.opts.Now, rand.Reader)
}

// openGate lets messages of networks in.
func (g *Gateway) openGate() {
	g.gate = inbound.New(inbound.Options{
		DB: g.store, Contacts: g.contacts, Sessions: dispatch.Inbox{Dispatcher: g.dispatch, Files: g.arrivals},
		Settings: func() inbound.Settings {
			return rules.Inbound(g.config.Snapshot().Config, Networks(), g.agents.Answerer)
		},
		Policy: g.channels.Policy, IsCommand: g.dispatch.IsCommand, Tell: g.channels.Tell, Broken: g.incidents.Broke,
		Logger: g.log, Now: g.opts.Now, Local: g.opts.Now().Location(), NewID: newUUID,
	})
}
