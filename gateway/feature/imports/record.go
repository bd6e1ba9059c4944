package imports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// record is what was taken, by the name that it has in its program.
type record struct {
	At        int64  `json:"at"`
	Key       string `json:"key,omitempty"`       // of a chat: its session
	SessionID string `json:"sessionId,omitempty"` // and its transcript
	Path      string `json:"path,omitempty"`      // of a file: where it is
	Hash      string `json:"hash,omitempty"`      // and what was there then
}

// recordKey: names are strangers', so they are hashed.
func (w *walk) recordKey(it imports.Item) []byte {
	return []byte(w.from + "/" + string(it.Kind) + "/" + digest(it.ID))
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// messageID is the name of a message here: the same whenever it is imported.
func messageID(parts ...string) string {
	b := []byte(digest(parts...)[:32])
	b[12], b[16] = '8', "89ab"[b[16]%4] // a UUID of the kind that is made of a hash
	h := string(b)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

func (w *walk) recorded(it imports.Item) (r record, ok bool, err error) {
	err = w.DB.View(func(tx *store.Tx) error {
		r, ok, err = w.taken.Get(tx, w.recordKey(it))
		return err
	})
	return r, ok, err
}

// record remembers what was taken.
func (w *walk) record(ctx context.Context, it imports.Item, r record) error {
	r.At = w.Now().UnixMilli()
	return w.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return w.taken.Put(tx, w.recordKey(it), r) }})
}
