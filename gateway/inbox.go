package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/inbound"
)

// inbox is the dispatcher's, which is made after the gate.
type inbox struct{ g *Gateway }

// Submit implements inbound.Sessions.
func (i inbox) Submit(ctx context.Context, a inbound.Accepted) error {
	return dispatch.Inbox{Dispatcher: i.g.dispatch, Files: i.g.arrivals}.Submit(ctx, a)
}

// tellStranger sends a pairing code. It does not pass the outbox: a code that
// is lost is asked for again.
func (g *Gateway) tellStranger(ctx context.Context, channelID string, to channel.Target, text string) {
	ch := g.channels.Find(channelID, to.Account)
	if ch == nil {
		return
	}
	if _, err := ch.Send(ctx, channel.Message{To: to, Text: text}); err != nil {
		g.log.Warn("a stranger could not be told their pairing code", "channel", channelID, "err", err)
	}
}

func (g *Gateway) noteDecision(d inbound.Decision) {
	g.log.Info("message from a channel", "rule", string(d.Rule), "detail", d.Detail, "channel", d.Channel, "account", d.Account,
		"conversation", d.Conversation, "run", d.RunID)
}
