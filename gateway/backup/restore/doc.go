// Package restore puts a backup in the place of what is there, so that at every
// moment a person can see how far it is and go on or back.
//
// Stage unpacks the backup beside the folders that it is to replace and looks
// whether all of it is good; nothing was changed then. Apply writes a journal
// (STATE.restore.json) and swaps folder by folder, by renaming: what was there is
// kept as FOLDER.replaced-STAMP. A swap that was cut short is finished by Resume,
// and taken back by Undo, both from the journal alone. The gateway must not run
// meanwhile.
//
// Restoring is time travel: what the store holds to be done was done since. The
// store is marked (store.DB.MarkRestored), and whoever takes up what an earlier
// start left open leaves that alone (store.DB.Past).
package restore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Phases of a journal.
const (
	Swapping = "swapping" // some folders may be the backup's, some not yet
	Restored = "restored" // all are
	Undoing  = "undoing"
	Undone   = "undone"
)

// What callers decide by.
var (
	// ErrHalf: an earlier restore was cut short; Resume or Undo first.
	ErrHalf = errors.New("an earlier restore was cut short")
	// ErrNothing: there is no restore to go on with or take back.
	ErrNothing = errors.New("there is no restore to take back")
)

// Journal is what a restore did, or was about to do.
type Journal struct {
	Phase  string    `json:"phase"`
	At     time.Time `json:"at"`
	Backup string    `json:"backup"` // its name
	Saved  time.Time `json:"saved"`  // when that was made
	Moves  []Move    `json:"moves"`
}

// Move is one folder or file: New takes the place of To, and what was there becomes
// Old. Undone, they change places again.
type Move struct {
	To  string `json:"to"`
	New string `json:"new"`
	Old string `json:"old"`
}

// path of the journal: beside the state folder, which is swapped itself.
func path(dir statedir.Dir) string { return strings.TrimRight(string(dir), `/\`) + ".restore.json" }

// Read is the journal of a state folder, ErrNothing when there was no restore.
func Read(dir statedir.Dir) (Journal, error) {
	raw, err := os.ReadFile(path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return Journal{}, ErrNothing
	}
	var j Journal
	if err == nil {
		err = json.Unmarshal(raw, &j)
	}
	if err != nil {
		return j, fmt.Errorf("read what the last restore did: %w", err)
	}
	return j, nil
}

func (j Journal) write(dir statedir.Dir) error {
	raw, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		return err
	}
	if err := statedir.WriteFile(path(dir), append(raw, '\n')); err != nil {
		return fmt.Errorf("note what the restore does: %w", err)
	}
	return nil
}

// Half reports whether a restore, or the taking back of one, was cut short.
func Half(dir statedir.Dir) bool {
	j, err := Read(dir)
	return err == nil && (j.Phase == Swapping || j.Phase == Undoing)
}
