package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// maxSnapshots is how many are kept; beyond that any goes, and its session
// takes its skills anew.
const maxSnapshots = 5000

// snapshots keep the skills that sessions began with.
type snapshots struct {
	life context.Context
	db   *store.DB
	rows store.Bucket[[]byte]
}

func snapshotKey(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// Load implements skill.Snapshots.
func (s snapshots) Load(key string) (raw []byte, err error) {
	err = s.db.View(func(tx *store.Tx) error {
		raw = bytes.Clone(s.rows.GetRaw(tx, snapshotKey(key)))
		return nil
	})
	return raw, err
}

// Save implements skill.Snapshots.
func (s snapshots) Save(key string, raw []byte) error {
	err := s.db.Update(s.life, store.Write{Do: func(tx *store.Tx) error {
		if s.rows.Count(tx) >= maxSnapshots {
			if _, err := s.rows.DeleteRange(tx, store.Range{}, maxSnapshots/10); err != nil {
				return err
			}
		}
		return s.rows.PutRaw(tx, snapshotKey(key), raw)
	}})
	if err != nil {
		return fmt.Errorf("keep the skills of a session: %w", err)
	}
	return nil
}
