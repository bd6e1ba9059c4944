package push

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// placeLife is how long a notification can be opened.
const placeLife = 7 * 24 * time.Hour

var placesBucket = store.NewBucket[protocol.PushPlace]("push-places")

// places keeps what the numbers in notifications stand for.
type places struct {
	db  *store.DB
	now func() time.Time
}

// put notes a place and returns its number, which says nothing of it. Those that are
// too old go.
func (p places) put(ctx context.Context, at protocol.PushPlace) (string, error) {
	key := append(store.Uint64Key(uint64(p.now().UnixMilli())), make([]byte, 12)...)
	if _, err := rand.Read(key[8:]); err != nil {
		return "", fmt.Errorf("number a notification: %w", err)
	}
	err := p.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		var old [][]byte
		for row, err := range placesBucket.Scan(tx, store.Range{Before: store.Uint64Key(uint64(p.now().Add(-placeLife).UnixMilli()))}) {
			if err != nil {
				return err
			}
			if old = append(old, append([]byte(nil), row.Key...)); len(old) == 100 {
				break
			}
		}
		for _, k := range old {
			if err := placesBucket.Delete(tx, k); err != nil {
				return err
			}
		}
		return placesBucket.Put(tx, key, at)
	}})
	return base64.RawURLEncoding.EncodeToString(key), err
}

// get is where a number leads.
func (p places) get(ref string) (at protocol.PushPlace, err error) {
	key, err := base64.RawURLEncoding.DecodeString(ref)
	if err != nil || len(key) != 20 {
		return protocol.PushPlace{}, nil
	}
	err = p.db.View(func(tx *store.Tx) error {
		at, _, err = placesBucket.Get(tx, key)
		return err
	})
	return at, err
}
