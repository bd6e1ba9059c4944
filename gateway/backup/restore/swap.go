package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Resume finishes a restore, or the taking back of one, that was cut short.
func Resume(dir statedir.Dir) (Journal, error) {
	j, err := Read(dir)
	if err != nil {
		return j, err
	}
	switch j.Phase {
	case Swapping:
		return j.forth(dir)
	case Undoing:
		return j.back(dir)
	}
	return j, ErrNothing
}

// Undo takes the last restore back: every folder is again what it was before.
func Undo(dir statedir.Dir) (Journal, error) {
	j, err := Read(dir)
	if err != nil {
		return j, err
	}
	if j.Phase == Undone {
		return j, ErrNothing
	}
	j.Phase = Undoing
	if err := j.write(dir); err != nil {
		return j, err
	}
	return j.back(dir)
}

func (j Journal) forth(dir statedir.Dir) (Journal, error) {
	for _, m := range j.Moves {
		if err := swap(m.To, m.New, m.Old); err != nil {
			return j, fmt.Errorf("put the backup in its place: %w", err)
		}
	}
	j.Phase = Restored
	return j, j.write(dir)
}

func (j Journal) back(dir statedir.Dir) (Journal, error) {
	for i := len(j.Moves) - 1; i >= 0; i-- {
		m := j.Moves[i]
		var err error
		switch {
		case there(m.New) && !there(m.To): // cut short between the two renames
			err = move(m.Old, m.To)
		case there(m.New): // never swapped, or taken back already
		case there(m.Old):
			err = swap(m.To, m.Old, m.New)
		default: // nothing was there before
			err = move(m.To, m.New)
		}
		if err != nil {
			return j, fmt.Errorf("take the restore back: %w", err)
		}
	}
	j.Phase = Undone
	return j, j.write(dir)
}

// swap puts what is at from at to, and what was there at aside. Cut short anywhere,
// it can be done again.
func swap(to, from, aside string) error {
	if !there(from) {
		return nil // it was done
	}
	if there(to) {
		if there(aside) {
			return fmt.Errorf("%s and %s are both there; move one of them away", to, aside)
		}
		if err := move(to, aside); err != nil {
			return err
		}
	}
	failpoint.Hit("betweenSwaps")
	return move(from, to)
}

// move renames durably.
func move(from, to string) error {
	if !there(from) {
		return nil
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	failpoint.Hit("afterRename")
	return statedir.SyncDir(filepath.Dir(to))
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
