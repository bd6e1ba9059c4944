package answers

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/outbound/stream"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// thoughtsKey is the key of the message that shows the reasoning of a run; that of its
// answer is the run's id.
func thoughtsKey(runID string) string { return runID + ":thoughts" }

// record keeps what is known of the message of one preview (stream.Record).
type record struct {
	deliverer *outbound.Deliverer
	of        outbound.PreviewRow
}

func (r record) Showing(ctx context.Context, text string) error {
	r.of.Text = text
	return r.deliverer.Showing(ctx, r.of)
}

func (r record) Shown(ctx context.Context, messageID string) {
	r.deliverer.Shown(ctx, r.of.Key, messageID)
}
func (r record) NotShown(ctx context.Context) { r.deliverer.NotShown(ctx, r.of.Key) }

// recordOf is the record of a preview of a run.
func (n *Networks) recordOf(run session.Run, r channel.Route, to channel.Target, key string, inPlace bool) stream.Record {
	return record{n.Deliverer, outbound.PreviewRow{Key: key, Channel: r.Channel, To: to, Session: run.SessionKey, InPlace: inPlace}}
}

// before is the message that showed this answer when a crash broke it off.
func (n *Networks) before(key string) stream.Before {
	p, ok, err := n.Deliverer.PreviewOf(key)
	if err != nil {
		n.Logger.Warn("what was shown of an answer before Hearth stopped could not be read", "key", key, "err", err)
	}
	if !ok {
		return stream.Before{}
	}
	return stream.Before{MessageID: p.MessageID, Since: p.Since()}
}

// taken is what a run shows on a network when it ends.
type taken struct {
	preview       outbound.PreviewRow // MessageID "": none
	thoughts      outbound.PreviewRow
	showsThoughts bool
}

// take removes the rows of what a run shows, in the transaction of its end.
func (n *Networks) take(tx *store.Tx, run session.Run) (t taken, err error) {
	p, ok, err := n.Deliverer.TakePreview(tx, run.ID)
	if err != nil {
		return t, err
	}
	if ok {
		t.preview = p
	}
	t.thoughts, t.showsThoughts, err = n.Deliverer.TakePreview(tx, thoughtsKey(run.ID))
	return t, err
}

// showing fills in what becomes of the preview: what the run under way knows of it,
// and after a crash what its row says.
func (n *Networks) showing(d *outbound.Delivery, lr *liveRun, p outbound.PreviewRow) {
	d.Preview, d.EditPreview, d.PreviewAt = p.MessageID, p.InPlace, p.SentAt
	if lr != nil && lr.previewID != "" {
		d.Preview, d.EditPreview, d.PreviewText = lr.previewID, lr.edit, lr.shown
	}
}
