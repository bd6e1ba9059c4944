package gateway

import (
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// tellRoute sends a notice of Hearth's own where a run's answer goes, in the
// run's transaction.
func (g *Gateway) tellRoute(tx *store.Tx, run session.Run, id, text string) error {
	r, ok := channel.ParseRoute(run.Route)
	if !ok || !r.Delivered() || !g.maySend(run.SessionKey, r) {
		return nil
	}
	return g.deliverer.Put(tx, outbound.Delivery{
		ID: run.ID + ":notice:" + id, Channel: r.Channel, To: r.Target(""), Session: run.SessionKey, RunID: run.ID, Text: text, Reply: outbound.ReplyOff,
	})
}
