package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// kept is a program that waits, as the store has it.
type kept struct {
	ID         string       `json:"id"`
	Run        string       `json:"run"`
	SessionKey string       `json:"sessionKey"`
	SessionID  string       `json:"sessionId"`
	Created    int64        `json:"created"` // ms
	Expires    int64        `json:"expires"`
	Pending    []keptCall   `json:"pending,omitempty"`
	Done       []keptAnswer `json:"done,omitempty"` // answers that came since
	Outside    []string     `json:"outside,omitempty"`
}

// keptCall is a call that had no answer when the program was put away.
type keptCall struct {
	ID     int64  `json:"id"`
	Method string `json:"method"`
	CallID string `json:"callId,omitempty"`
	Tool   string `json:"tool,omitempty"` // its id in the catalogue
}

type keptAnswer struct {
	ID    int64              `json:"id"`
	Value json.RawMessage    `json:"value,omitempty"`
	Err   *engine.GuestError `json:"err,omitempty"`
}

// keeper puts programs that wait into the store. A program is there while it
// waits and not a moment longer: whoever goes on with it takes it out first, so
// that no call of it is ever made twice.
type keeper struct {
	db    *store.DB
	rows  store.Bucket[kept]
	bytes store.Bucket[[]byte]
}

func newKeeper(db *store.DB) keeper {
	return keeper{db: db, rows: store.NewBucket[kept]("codemode.waiting"), bytes: store.NewBucket[[]byte]("codemode.snapshots")}
}

// rowKey puts the programs of a run beside each other.
func rowKey(run, id string) []byte { return []byte(run + "\x00" + id) }

func (k keeper) put(ctx context.Context, row kept, snapshot []byte) error {
	key := rowKey(row.Run, row.ID)
	err := k.db.Update(context.WithoutCancel(ctx), store.Write{Do: func(tx *store.Tx) error {
		if err := k.bytes.PutRaw(tx, key, snapshot); err != nil {
			return err
		}
		return k.rows.Put(tx, key, row)
	}})
	if err != nil {
		return fmt.Errorf("keep a program that waits: %w", err)
	}
	return nil
}

// answer adds an answer to a program that waits; without one it does nothing.
func (k keeper) answer(ctx context.Context, run, id string, a keptAnswer) error {
	return k.db.Post(context.WithoutCancel(ctx), store.Write{Do: func(tx *store.Tx) error {
		row, ok, err := k.rows.Get(tx, rowKey(run, id))
		if err != nil || !ok {
			return err
		}
		row.Done = append(row.Done, a)
		return k.rows.Put(tx, rowKey(run, id), row)
	}})
}

var errNotKept = errors.New("the program does not wait any more")

// look reads a program that waits.
func (k keeper) look(run, id string) (row kept, err error) {
	err = k.db.View(func(tx *store.Tx) error {
		var ok bool
		if row, ok, err = k.rows.Get(tx, rowKey(run, id)); err == nil && !ok {
			err = errNotKept
		}
		return err
	})
	return row, err
}

// take takes a program out, for good.
func (k keeper) take(ctx context.Context, run, id string) (row kept, snapshot []byte, err error) {
	key := rowKey(run, id)
	err = k.db.Update(context.WithoutCancel(ctx), store.Write{Must: true, Do: func(tx *store.Tx) error {
		var ok bool
		if row, ok, err = k.rows.Get(tx, key); err != nil {
			return err
		}
		if !ok {
			return errNotKept
		}
		snapshot = append([]byte(nil), k.bytes.GetRaw(tx, key)...)
		return k.delete(tx, key)
	}})
	return row, snapshot, err
}

func (k keeper) delete(tx *store.Tx, key []byte) error {
	if err := k.bytes.Delete(tx, key); err != nil {
		return err
	}
	return k.rows.Delete(tx, key)
}

// drop deletes a program without waiting.
func (k keeper) drop(ctx context.Context, run, id string) error {
	return k.db.Post(context.WithoutCancel(ctx),
		store.Write{Must: true, Do: func(tx *store.Tx) error { return k.delete(tx, rowKey(run, id)) }})
}

// dropRun deletes all programs of a run without waiting.
func (k keeper) dropRun(ctx context.Context, run string) error {
	return k.db.Post(context.WithoutCancel(ctx), store.Write{Must: true, Do: func(tx *store.Tx) error {
		var gone [][]byte
		for key := range k.rows.ScanRaw(tx, store.Range{Prefix: []byte(run + "\x00")}) {
			gone = append(gone, append([]byte(nil), key...))
		}
		for _, key := range gone {
			if err := k.delete(tx, key); err != nil {
				return err
			}
		}
		return nil
	}})
}

func (k keeper) holds(tx *store.Tx, run string) bool {
	for range k.rows.ScanRaw(tx, store.Range{Prefix: []byte(run + "\x00")}) {
		return true
	}
	return false
}

// sweep deletes what keep says no to, and what nothing can be read of.
func (k keeper) sweep(ctx context.Context, keep func(kept) bool) (n int, err error) {
	err = k.db.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		n = 0
		var gone [][]byte
		for key := range k.bytes.ScanRaw(tx, store.Range{}) {
			row, ok, err := k.rows.Get(tx, key)
			if err != nil || !ok || !keep(row) {
				gone = append(gone, append([]byte(nil), key...))
			}
		}
		for key := range k.rows.ScanRaw(tx, store.Range{}) {
			if !k.bytes.Has(tx, key) {
				gone = append(gone, append([]byte(nil), key...))
			}
		}
		for _, key := range gone {
			if err := k.delete(tx, key); err != nil {
				return err
			}
			n++
		}
		return nil
	}})
	if err != nil {
		return 0, fmt.Errorf("tidy up programs that waited: %w", err)
	}
	return n, nil
}

// scope binds a snapshot to whose it is.
func (k kept) scope() string {
	return strings.Join([]string{k.Run, k.SessionKey, k.SessionID, k.ID}, "\x00")
}
