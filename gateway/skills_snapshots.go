package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// maxSkillSnapshots is how many are kept; beyond that any goes, and its session
// takes its skills anew.
const maxSkillSnapshots = 5000

// skillSnapshots keep the skills that sessions began with.
type skillSnapshots struct {
	life context.Context
	db   *store.DB
	rows store.Bucket[[]byte]
}

func snapshotKey(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// Load implements skill.Snapshots.
func (s skillSnapshots) Load(key string) (raw []byte, err error) {
	err = s.db.View(func(tx *store.Tx) error {
		raw = bytes.Clone(s.rows.GetRaw(tx, snapshotKey(key)))
		return nil
	})
	return raw, err
}

// Save implements skill.Snapshots.
func (s skillSnapshots) Save(key string, raw []byte) error {
	err := s.db.Update(s.life, store.Write{Do: func(tx *store.Tx) error {
		if s.rows.Count(tx) >= maxSkillSnapshots {
			if _, err := s.rows.DeleteRange(tx, store.Range{}, maxSkillSnapshots/10); err != nil {
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
