package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pairing/admission"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Programs that come in over HTTP with a token of their own.

func (g *Gateway) openClients(ctx context.Context) (err error) {
	id := func(c pairing.Client) string { return c.ID }
	g.clients, err = pairing.NewClients(ctx, pairing.ClientOptions{
		Store: store.NewShelf(g.store, "clients", id), Removed: store.NewBesideShelf(g.removed, "clients", id), Now: g.opts.Now, Logger: g.log,
	})
	if err != nil {
		return &StartError{What: "The tokens of other programs could not be read", Err: err, Fix: "Restore the store from a backup"}
	}
	g.door = admission.NewDoor(g.clients, g.audit)
	return nil
}
