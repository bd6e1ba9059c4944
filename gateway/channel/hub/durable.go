package hub

import (
	"context"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// kept are the values that channels keep: <network>\x1f<account>\x1f<key>.
var kept = store.NewBucket[[]byte]("channels.kept")

// durable are the values of one account.
type durable struct {
	db *store.DB
	of name
}

func (d durable) key(key string) []byte {
	return []byte(d.of.network + "\x1f" + d.of.account + "\x1f" + key)
}

// Get implements channel.Durable.
func (d durable) Get(_ context.Context, key string) (v []byte, err error) {
	err = d.db.View(func(tx *store.Tx) (err error) {
		v, _, err = kept.Get(tx, d.key(key))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what a channel keeps: %w", err)
	}
	return v, nil
}

// Put implements channel.Durable.
func (d durable) Put(ctx context.Context, key string, value []byte) error {
	err := d.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return kept.Put(tx, d.key(key), value) }})
	if err != nil {
		return fmt.Errorf("keep a value of a channel: %w", err)
	}
	return nil
}
