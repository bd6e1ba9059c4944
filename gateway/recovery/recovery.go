// Package recovery works on a store that no gateway has open: it says what is
// damaged, reads conversations past the damage, puts the last good copy in
// its place, and gives back the room that it does not use. It changes nothing unless it is told to.
package recovery

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// ErrRunning: a gateway has the store open.
var ErrRunning = errors.New("the gateway is running")

// Report is what was seen of a store.
type Report struct {
	Path     string    `json:"path"`
	OK       bool      `json:"ok"`
	Records  int       `json:"records"`
	Problem  string    `json:"problem,omitempty"`
	LastGood string    `json:"lastGood,omitempty"` // path of the last good copy
	CopiedAt time.Time `json:"copiedAt,omitzero"`
}

// Look reads all of the store. It may be open elsewhere only when it is not
// being written.
func Look(dir statedir.Dir) (Report, error) {
	r := Report{Path: dir.Store()}
	if st, err := os.Stat(dir.LastGood()); err == nil {
		r.LastGood, r.CopiedAt = dir.LastGood(), st.ModTime()
	}
	if store.InUse(dir.Store()) {
		return r, ErrRunning
	}
	var err error
	r.Records, err = store.Check(dir.Store())
	switch {
	case errors.Is(err, store.ErrDamaged):
		r.Problem = err.Error()
	case errors.Is(err, os.ErrNotExist):
		r.Problem = "there is no store yet, or it was removed"
	case err != nil:
		return r, err
	default:
		r.OK = true
	}
	return r, nil
}

// Advice is what a person can do about a damaged store, without a full stop.
func Advice(dir statedir.Dir) string {
	if st, err := os.Stat(dir.LastGood()); err == nil {
		return fmt.Sprintf("`hearth store restore` takes the copy of %s and keeps the damaged file; "+
			"`hearth store export --out FILE` saves what can be read", st.ModTime().Format("2 January 15:04"))
	}
	return "`hearth store export --out FILE` saves what can be read; then restore " + dir.Store() +
		" from a backup, or move it away to start empty"
}

// Message is an entry of a conversation with the session that it belongs to.
type Message struct {
	SessionKey string
	Message    protocol.Message
}

// Export tells every message that can be read, conversation by conversation,
// and returns how many pages and records could not. What looks like a key is
// hidden, since an export leaves this machine.
func Export(path string, tell func(Message) error) (damaged int, err error) {
	s, err := store.OpenSalvage(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.Close() }()
	keys, lost, err := sessions(s)
	if err != nil {
		return 0, err
	}
	var hide redact.Redactor
	err = s.Rows(session.TableEntries, func(key, value []byte) error {
		var m protocol.Message
		if len(key) != 24 || json.Unmarshal(hide.JSON(value), &m) != nil {
			lost++
			return nil
		}
		name, ok := keys[[16]byte(key[:16])]
		if !ok {
			name = "lost:" + hex.EncodeToString(key[:16])
		}
		return tell(Message{name, m})
	})
	return s.Damaged + lost, err
}

// sessions finds out which session a conversation's id belongs to.
func sessions(s *store.Salvage) (keys map[[16]byte]string, lost int, err error) {
	keys = map[[16]byte]string{}
	err = s.Rows(session.TableSessions, func(key, value []byte) error {
		var row struct {
			SessionID string `json:"sessionId"`
		}
		id, ok := [16]byte{}, json.Unmarshal(value, &row) == nil
		if ok {
			id, ok = session.RawID(row.SessionID)
		}
		if !ok {
			lost++
			return nil
		}
		keys[id] = string(key)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	err = s.Rows(session.TablePast, func(key, _ []byte) error {
		if n := len(key) - 17; n > 0 && key[n] == 0 {
			keys[[16]byte(key[n+1:])] = string(key[:n])
		}
		return nil
	})
	return keys, lost, err
}

// Restore puts the last good copy in the place of the store. What was there is
// kept; its new name is returned.
func Restore(dir statedir.Dir, now time.Time) (kept string, err error) {
	if store.InUse(dir.Store()) {
		return "", ErrRunning
	}
	if _, err := os.Lstat(dir.Store()); err == nil {
		kept = store.ReplacedName(dir.Store(), now.UTC().Format("20060102-150405"))
	}
	err = store.Restore(dir.Store(), dir.LastGood(), kept)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("there is no copy at %s: %w", dir.LastGood(), err)
	}
	return kept, err
}

// Count is how many messages the store at path has that can be found. Nobody may
// have it open for writing.
func Count(path string) (n int, err error) {
	s, err := store.OpenSalvage(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.Close() }()
	err = s.Rows(session.TableEntries, func(_, _ []byte) error { n++; return nil })
	return n, err
}

// Compact writes the store anew without the room that it does not use.
func Compact(dir statedir.Dir) (before, after int64, err error) {
	if store.InUse(dir.Store()) {
		return 0, 0, ErrRunning
	}
	return store.Compact(dir.Store())
}

// IsDamaged reports whether an error says that a store is damaged.
func IsDamaged(err error) bool { return errors.Is(err, store.ErrDamaged) }
