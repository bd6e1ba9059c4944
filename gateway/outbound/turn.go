package outbound

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Turn waits until nothing that was put for a conversation is on its way any
// more, so that what is shown there beside deliveries overtakes none of them.
// It returns false when ctx ended first.
func (d *Deliverer) Turn(ctx context.Context, channelID string, to channel.Target) bool {
	lane := (&Delivery{Channel: channelID, To: to}).lane()
	for {
		d.mu.Lock()
		moved := d.moved
		d.mu.Unlock()
		busy, err := d.busy(lane)
		if err != nil || !busy {
			return err == nil && ctx.Err() == nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false
		}
	}
}

func (d *Deliverer) busy(lane string) (busy bool, err error) {
	err = d.db.View(func(tx *store.Tx) error {
		for key := range d.open.ScanRaw(tx, store.Range{Prefix: []byte{classOpen}}) {
			v, ok, err := d.rows.Get(tx, key[1:])
			if err != nil {
				return err
			}
			if ok && v.lane() == lane {
				busy = true
				return nil
			}
		}
		return nil
	})
	return busy, err
}
