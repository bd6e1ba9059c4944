package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// deviceStore keeps paired devices in the store.
type deviceStore struct {
	db   *store.DB
	rows store.Bucket[pairing.Device]
}

func newDeviceStore(db *store.DB) *deviceStore {
	return &deviceStore{db: db, rows: store.NewBucket[pairing.Device]("devices")}
}

func (d *deviceStore) LoadDevices(context.Context) (all []pairing.Device, err error) {
	err = d.db.View(func(tx *store.Tx) error {
		for row, err := range d.rows.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			all = append(all, row.Value)
		}
		return nil
	})
	return all, err
}

func (d *deviceStore) SaveDevice(ctx context.Context, dev pairing.Device) error {
	return d.db.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		return d.rows.Put(tx, []byte(dev.ID), dev)
	}})
}
