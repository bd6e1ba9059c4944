package mcp

import (
	"context"
	"crypto/sha256"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// pins keep what tools were when they were allowed.
type pins struct {
	db   *store.DB
	rows store.Bucket[[]byte]
}

func pinKey(server, name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return append([]byte(server+"\x00"), sum[:]...)
}

// Pin implements mcp.Pins.
func (p pins) Pin(server, name string) (hash [32]byte, ok bool) {
	err := p.db.View(func(tx *store.Tx) error {
		ok = copy(hash[:], p.rows.GetRaw(tx, pinKey(server, name))) == len(hash)
		return nil
	})
	return hash, ok && err == nil
}

// SetPin implements mcp.Pins.
func (p pins) SetPin(ctx context.Context, server, name string, hash [32]byte) error {
	return p.db.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return p.rows.PutRaw(tx, pinKey(server, name), hash[:]) }})
}
