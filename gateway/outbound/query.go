package outbound

import (
	"context"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/store"
)

var (
	// ErrNoDelivery: no delivery has this id.
	ErrNoDelivery = errors.New("there is no such delivery")
	// ErrNotStuck: the delivery is done or goes on by itself.
	ErrNotStuck = errors.New("the delivery needs no decision")
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

// Incomplete lists at most limit deliveries that arrived with words in the place
// of a file, the newest first. They are forgotten with the other receipts.
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
	return d.decide(ctx, id, func(v *Delivery) {
		v.State, v.Parts[v.next()].State = Waiting, Waiting
	})
}

// Arrived takes an uncertain message for delivered, because a person saw it,
// and goes on with the rest.
func (d *Deliverer) Arrived(ctx context.Context, id string) error {
	return d.decide(ctx, id, func(v *Delivery) {
		v.State, v.Parts[v.next()].State = Waiting, Delivered
	})
}

func (d *Deliverer) decide(ctx context.Context, id string, change func(*Delivery)) error {
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
			change(&v)
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
	if d.OnState != nil {
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
