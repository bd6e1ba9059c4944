package gateway

import (
	"crypto/rand"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/outbound"
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
	g.gate = inbound.New(inbound.Options{
		DB: g.store, Contacts: g.contacts, Sessions: inbox{g},
		Settings:  func() inbound.Settings { return g.inboundSettings(g.config.Snapshot().Config) },
		Policy:    g.channels.Policy,
		IsCommand: func(text string) bool { return g.dispatch.IsCommand(text) }, Tell: g.tellStranger, OnDecision: g.noteDecision,
		Broken: g.messageBroke, Logger: g.log, Now: g.opts.Now, Local: g.opts.Now().Location(), NewID: newUUID,
	})
}
