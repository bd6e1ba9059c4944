package gateway

import (
	"context"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// openRemoved opens the list of what was taken away, which an older copy of the
// store, put back, does not know.
func (g *Gateway) openRemoved() error {
	b, aside, err := store.OpenBeside(g.opts.Dir.Removed())
	if err != nil {
		return &StartError{What: "The list of removed devices cannot be used", Err: err, Fix: "Mend its permissions; without it a restored " +
			"copy of the database would let them in again"}
	}
	if aside != "" {
		g.log.Warn("the list of removed devices was damaged and is made anew from the store", "old", aside)
	}
	g.removed = b
	return nil
}

// recall takes away again what the store, an older copy of itself, had given
// back, and says so.
func (g *Gateway) recall(ctx context.Context) error {
	people, err := g.contacts.Recall(ctx, store.NewBesideShelf(g.removed, "people", contact.RemovedID))
	if err != nil {
		return &StartError{What: "The people who were removed could not be read", Err: err, Fix: "Remove " + g.opts.Dir.Removed() + " if you " +
			"know that the database is no older copy"}
	}
	devices, tokens := g.pairing.Recalled(), g.clients.Recalled()
	if people+devices+tokens == 0 {
		return nil
	}
	what := fmt.Sprintf("The database is an older copy. Some that it lets in were removed or limited since then and stay so (devices: %d, "+
		"tokens: %d, people: %d)", devices, tokens, people)
	g.audit.Add(audit.Entry{Kind: audit.KindAuth, What: what})
	g.problems.Note(protocol.Problem{Code: "OLDER_COPY", Message: what + ". Look at `hearth devices`, `hearth tokens list` and `hearth " +
		"contacts`, and let in anew who should come back."})
	return nil
}
