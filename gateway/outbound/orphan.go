package outbound

import (
	"context"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// keepLost is how long a delivery stays that needs a person, after its conversation is
// gone: until then somebody may still look at it.
const keepLost = 30 * 24 * time.Hour

// lostMost bounds how many are looked for at once.
const lostMost = 10_000

// Lost are deliveries that nobody waits for any more, and rows of the indexes that
// lead to none.
type Lost struct {
	Deliveries int // over for keepLost or longer, of conversations that are gone
	Indexes    int

	rows []Delivery
	ids  [][]byte
	open [][]byte
}

// None reports whether all is in order.
func (l Lost) None() bool { return l.Deliveries == 0 && l.Indexes == 0 }

// Lost looks for them. What still goes on by itself is never among them.
func (d *Deliverer) Lost(exists func(session string) (bool, error)) (out Lost, err error) {
	before := d.Now().Add(-keepLost).UnixMilli()
	var old []Delivery
	err = d.db.View(func(tx *store.Tx) error {
		for row, err := range d.rows.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			if v := row.Value; v.Session != "" && !v.State.Open() && v.UpdatedAt < before && len(old) < lostMost {
				old = append(old, v)
			}
		}
		for row, err := range d.ids.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			if !d.rows.Has(tx, store.Uint64Key(row.Value)) && len(out.ids) < lostMost {
				out.ids = append(out.ids, append([]byte(nil), row.Key...))
			}
		}
		for key := range d.open.ScanRaw(tx, store.Range{}) {
			if len(key) < 2 || !d.rows.Has(tx, key[1:]) && len(out.open) < lostMost {
				out.open = append(out.open, append([]byte(nil), key...))
			}
		}
		return nil
	})
	for _, v := range old {
		if err != nil {
			break
		}
		var there bool
		if there, err = exists(v.Session); err == nil && !there {
			out.rows = append(out.rows, v)
		}
	}
	if err != nil {
		return Lost{}, fmt.Errorf("look through the deliveries: %w", err)
	}
	out.Deliveries, out.Indexes = len(out.rows), len(out.ids)+len(out.open)
	return out, nil
}

// Forget removes what Lost found, as far as it is still so.
func (d *Deliverer) Forget(ctx context.Context, l Lost) (deliveries, indexes int, err error) {
	err = d.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		deliveries, indexes = 0, 0
		for _, v := range l.rows {
			now, ok, err := d.rows.Get(tx, store.Uint64Key(v.Seq))
			if err != nil {
				return err
			}
			if !ok || now.State != v.State || now.UpdatedAt != v.UpdatedAt {
				continue // somebody decided about it
			}
			if err := d.forget(tx, now); err != nil {
				return err
			}
			deliveries++
		}
		for _, key := range l.ids {
			seq, ok, err := d.ids.Get(tx, key)
			if err != nil {
				return err
			}
			if ok && !d.rows.Has(tx, store.Uint64Key(seq)) {
				if err := d.ids.Delete(tx, key); err != nil {
					return err
				}
				indexes++
			}
		}
		for _, key := range l.open {
			if len(key) < 2 || !d.rows.Has(tx, key[1:]) {
				if err := d.open.Delete(tx, key); err != nil {
					return err
				}
				indexes++
			}
		}
		return nil
	}})
	if err != nil {
		return 0, 0, fmt.Errorf("forget deliveries of conversations that are gone: %w", err)
	}
	return deliveries, indexes, nil
}

// forget removes a delivery with its places in the indexes.
func (d *Deliverer) forget(tx *store.Tx, v Delivery) error {
	if err := d.rows.Delete(tx, store.Uint64Key(v.Seq)); err != nil {
		return err
	}
	if err := d.ids.Delete(tx, []byte(v.ID)); err != nil {
		return err
	}
	for _, class := range []byte{classOpen, classTrouble, classLess} {
		if err := d.open.Delete(tx, openKey(class, v.Seq)); err != nil {
			return err
		}
	}
	return nil
}
