package outbound

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// PreviewRow is the row of a message that shows an answer while it is written. It is
// on disk before the message is sent, and gone in the transaction that puts the
// delivery which takes the message's place or removes it: what a crash leaves on a
// network is known at the next start.
type PreviewRow struct {
	Key     string         `json:"key"` // that of its run, or of a part of it
	Channel string         `json:"channel"`
	To      channel.Target `json:"to"`
	Session string         `json:"session,omitempty"`
	Text    string         `json:"text,omitempty"`    // that it was sent with
	InPlace bool           `json:"inPlace,omitempty"` // the answer takes its place; otherwise it is removed
	SentAt  int64          `json:"sentAt,omitempty"`  // when its sending began, in milliseconds
	// MessageID is "" while it is being sent: after a crash nobody knows whether it
	// is there.
	MessageID string `json:"messageId,omitempty"`
}

// Since is when the sending of a preview began.
func (p PreviewRow) Since() time.Time { return time.UnixMilli(p.SentAt) }

// Showing records that a preview is about to be sent; it is durable when Showing
// returns. What an earlier one of the same key left unclear is put as uncertain.
func (d *Deliverer) Showing(ctx context.Context, p PreviewRow) error {
	p.MessageID, p.SentAt = "", d.Now().UnixMilli()
	err := d.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		if _, _, err := d.TakePreview(tx, p.Key); err != nil {
			return err
		}
		return d.previews.Put(tx, []byte(p.Key), p)
	}})
	if err != nil {
		return fmt.Errorf("record a preview: %w", err)
	}
	return nil
}

// Shown records the message that a preview became. It does not wait: what is put
// later comes after it.
func (d *Deliverer) Shown(ctx context.Context, key, messageID string) {
	d.note(ctx, key, func(tx *store.Tx) error {
		p, ok, err := d.previews.Get(tx, []byte(key))
		if err != nil || !ok {
			return err
		}
		p.MessageID = messageID
		return d.previews.Put(tx, []byte(key), p)
	})
}

// NotShown forgets a preview that was surely not sent. It does not wait.
func (d *Deliverer) NotShown(ctx context.Context, key string) {
	d.note(ctx, key, func(tx *store.Tx) error { return d.previews.Delete(tx, []byte(key)) })
}

func (d *Deliverer) note(ctx context.Context, key string, do func(*store.Tx) error) {
	err := d.db.Post(context.WithoutCancel(ctx), store.Write{Must: true, Do: do})
	if err != nil && !errors.Is(err, store.ErrClosed) {
		d.Logger.Warn("what became of a preview could not be recorded", "key", key, "err", err)
	}
}

// PreviewOf is the preview that an earlier start of Hearth showed, if its message is
// known.
func (d *Deliverer) PreviewOf(key string) (p PreviewRow, ok bool, err error) {
	err = d.db.View(func(tx *store.Tx) (err error) {
		p, ok, err = d.previews.Get(tx, []byte(key))
		return err
	})
	return p, ok && err == nil && p.MessageID != "" && !d.db.Past(p.SentAt), err
}

// TakePreview removes the row of a preview in the transaction that puts what becomes
// of its message; ok is false when no message is known. One that was being sent is
// put as uncertain: it is not sent again, and a person is shown it.
func (d *Deliverer) TakePreview(tx *store.Tx, key string) (p PreviewRow, ok bool, err error) {
	p, ok, err = d.previews.Get(tx, []byte(key))
	if err != nil || !ok {
		return p, false, err
	}
	if err := d.previews.Delete(tx, []byte(key)); err != nil {
		return p, false, err
	}
	switch {
	case d.db.Past(p.SentAt): // a backup held it: the message may be a whole answer since
		return p, false, nil
	case p.MessageID == "":
		return p, false, d.putUnclear(tx, p)
	}
	return p, true, nil
}

const unclearPreview = "nobody knows whether the beginning of this answer, shown while the answer was written, has arrived. The answer " +
	"itself is a message of its own, so nothing is sent again. Look into the chat, delete the beginning there if you find it, and say that " +
	"you have looked"

// putUnclear puts what may stand on a network as half an answer.
func (d *Deliverer) putUnclear(tx *store.Tx, p PreviewRow) error {
	id := fmt.Sprintf("%s:preview:%d", p.Key, p.SentAt)
	if d.ids.Has(tx, []byte(id)) {
		return nil
	}
	seq, err := d.rows.NextSeq(tx)
	if err != nil {
		return fmt.Errorf("put an uncertain preview: %w", err)
	}
	v := Delivery{
		ID: id, Channel: p.Channel, To: p.To, Session: p.Session, Text: p.Text, Draft: true, Seq: seq, State: Uncertain,
		Reason: unclearPreview, Parts: []Part{{Text: p.Text, State: Uncertain}}, CreatedAt: p.SentAt, UpdatedAt: d.Now().UnixMilli(),
	}
	if err := d.ids.Put(tx, []byte(id), seq); err != nil {
		return fmt.Errorf("put an uncertain preview: %w", err)
	}
	return d.write(tx, &v)
}

// PutRemoval adds the removal of a preview to the transaction, where no answer takes
// its place. Call Wake after the commit.
func (d *Deliverer) PutRemoval(tx *store.Tx, p PreviewRow) error {
	return d.Put(tx, Delivery{
		ID: fmt.Sprintf("%s:removal:%d", p.Key, p.SentAt), Channel: p.Channel, To: p.To, Session: p.Session, Draft: true,
		Preview: p.MessageID, PreviewAt: p.SentAt,
	})
}
