package outbound

import (
	"context"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/store"
)

var (
	// ErrNoDelivery: no delivery has this id.
	ErrNoDelivery = errors.New("there is no such delivery")
	// ErrNotStuck: the delivery is done or goes on by itself.
	ErrNotStuck = errors.New("the delivery needs no decision")
	// ErrDraft: it is the beginning of an answer that was sent as a whole.
	ErrDraft = errors.New("this was only the beginning of an answer, shown while the answer was written; the answer itself is a message of " +
		"its own, so there is nothing to send again. Say that you have seen it (arrived), and it is not shown here any more")
)

// Follow has one more hear of every change of a delivery after it is durable. It
// is called before Run; what it is given must not block.
func (d *Deliverer) Follow(heard func(Delivery)) {
	if first := d.OnState; first != nil {
		d.OnState = func(v Delivery) {
			first(v)
			heard(v)
		}
		return
	}
	d.OnState = heard
}

// Get returns one delivery.
func (d *Deliverer) Get(id string) (v Delivery, err error) {
	err = d.db.View(func(tx *store.Tx) (err error) {
		v, err = d.byID(tx, id)
		return err
	})
	return v, err
}

// Has reports whether there is a delivery of this id.
func (d *Deliverer) Has(tx *store.Tx, id string) bool { return d.ids.Has(tx, []byte(id)) }

// lookBack is how many deliveries are looked at for a message.
const lookBack = 2000

// Sent finds the delivery that a message on a network was a part of, and what the
// message says; only the newest are looked at.
func (d *Deliverer) Sent(network string, to channel.Target, messageID string) (v Delivery, text string, ok bool) {
	n := 0
	err := d.db.View(func(tx *store.Tx) error {
		for row, err := range d.rows.Scan(tx, store.Range{Reverse: true}) {
			if n++; err != nil || n > lookBack {
				return err
			}
			r := row.Value
			if r.Channel != network || r.To.Account != to.Account || r.To.Conversation != to.Conversation {
				continue
			}
			for _, p := range r.Parts {
				if p.MessageID == messageID && messageID != "" {
					v, text, ok = r, p.Text, true
					return nil
				}
			}
		}
		return nil
	})
	return v, text, ok && err == nil
}

// SentAs says in which thread a message was delivered, and what it says.
func (d *Deliverer) SentAs(network string, to channel.Target, messageID string) (thread, text string, ok bool) {
	v, text, ok := d.Sent(network, to, messageID)
	return v.To.Thread, text, ok
}

func (d *Deliverer) byID(tx *store.Tx, id string) (Delivery, error) {
	seq, ok, err := d.ids.Get(tx, []byte(id))
	if err != nil {
		return Delivery{}, err
	}
	if ok {
		v, ok, err := d.rows.Get(tx, store.Uint64Key(seq))
		if err != nil || ok {
			return v, err
		}
	}
	return Delivery{}, fmt.Errorf("%w: %q", ErrNoDelivery, id)
}

// Undelivered lists at most limit deliveries that go on by themselves, then
// those that wait for a person, each in order.
func (d *Deliverer) Undelivered(limit int) ([]Delivery, error) {
	return d.list(limit, store.Range{Prefix: []byte{classOpen}}, store.Range{Prefix: []byte{classTrouble}})
}

// Stuck is how many deliveries wait for a person: they failed, or may not have arrived.
func (d *Deliverer) Stuck() (n int, err error) {
	err = d.db.View(func(tx *store.Tx) error {
		for range d.open.ScanRaw(tx, store.Range{Prefix: []byte{classTrouble}}) {
			n++
		}
		return nil
	})
	return n, err
}

// Incomplete lists at most limit deliveries that arrived with words in the place
// of a file, or beside a preview that could not be removed, the newest first. They are forgotten with the other receipts.
func (d *Deliverer) Incomplete(limit int) ([]Delivery, error) {
	return d.list(limit, store.Range{Prefix: []byte{classLess}, Reverse: true})
}

// list reads the deliveries that parts of the index point to.
func (d *Deliverer) list(limit int, parts ...store.Range) (out []Delivery, err error) {
	err = d.db.View(func(tx *store.Tx) error {
		for _, part := range parts {
			for key := range d.open.ScanRaw(tx, part) {
				if len(out) == limit {
					return nil
				}
				v, ok, err := d.rows.Get(tx, key[1:])
				if err != nil {
					return err
				}
				if ok {
					out = append(out, v)
				}
			}
		}
		return nil
	})
	return out, err
}

// Resend sends what failed or is uncertain again, from the message on that has
// no receipt: a person decided that seeing it twice is better than not at all.
func (d *Deliverer) Resend(ctx context.Context, id string) error {
	return d.decide(ctx, id, func(v *Delivery) error {
		if v.Draft {
			return ErrDraft
		}
		v.State, v.Parts[v.next()].State = Waiting, Waiting
		return nil
	})
}

// Arrived takes an uncertain message for delivered, because a person saw it,
// and goes on with the rest.
func (d *Deliverer) Arrived(ctx context.Context, id string) error {
	return d.decide(ctx, id, func(v *Delivery) error {
		if v.next() == 0 && v.EditTried && v.stale() { // it may be the message that was seen, so it is not removed
			v.Parts[0].MessageID, v.Stale = v.Preview, "somebody saw the answer, and this may be it"
		}
		v.State, v.Parts[v.next()].State = Waiting, Delivered
		if v.Draft {
			v.State = Delivered
		}
		return nil
	})
}

func (d *Deliverer) decide(ctx context.Context, id string, change func(*Delivery) error) error {
	var row Delivery
	err := d.db.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		v, err := d.byID(tx, id)
		if err != nil {
			return err
		}
		if v.State.Open() || v.State == Delivered {
			return fmt.Errorf("%w: it is %s", ErrNotStuck, v.State)
		}
		if v.next() >= 0 {
			if err := change(&v); err != nil {
				return err
			}
		} else {
			v.State = Waiting
		}
		now := d.Now().UnixMilli()
		v.Attempts, v.Reason, v.NextAt, v.UpdatedAt, v.CreatedAt = 0, "", 0, now, now
		row = v.clone()
		return d.write(tx, &v)
	}})
	if err != nil {
		return fmt.Errorf("decide about a delivery: %w", err)
	}
	if d.OnState != nil && !row.Draft {
		d.OnState(row)
	}
	d.Wake()
	return nil
}

// Prune forgets deliveries that arrived before a time, at most limit of them,
// oldest first.
func (d *Deliverer) Prune(ctx context.Context, before int64, limit int) (n int, err error) {
	err = d.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		n = 0
		var old []Delivery
		for row, err := range d.rows.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			if row.Value.UpdatedAt >= before || len(old) == limit {
				break
			}
			if row.Value.State == Delivered {
				old = append(old, row.Value)
			}
		}
		for _, v := range old {
			if err := d.rows.Delete(tx, store.Uint64Key(v.Seq)); err != nil {
				return err
			}
			if err := d.ids.Delete(tx, []byte(v.ID)); err != nil {
				return err
			}
			if err := d.open.Delete(tx, openKey(classLess, v.Seq)); err != nil {
				return err
			}
		}
		n = len(old)
		return nil
	}})
	if err != nil {
		return 0, fmt.Errorf("forget old deliveries: %w", err)
	}
	return n, nil
}
