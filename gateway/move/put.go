package move

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/backup/restore"
	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// ErrAgain: nothing of what came is in its place yet, so it has to be put there again.
var ErrAgain = errors.New("nothing of what came is in its place yet")

func valuesFile(dir statedir.Dir) string { return filepath.Join(Folder(dir), "values.json") }

// Put puts what came in its place. Afterwards, or when it was cut short, Finish does
// the rest; until then this machine sleeps.
func Put(dir statedir.Dir, id string, s *restore.Staged) error {
	if err := os.MkdirAll(Folder(dir), 0o700); err != nil {
		return err
	}
	if err := statedir.WriteFile(valuesFile(dir), s.Values); err != nil {
		return fmt.Errorf("keep the keys that came: %w", err)
	}
	if err := (State{Phase: Arriving, ID: id, At: s.At(), Swap: s.At()}).write(dir); err != nil {
		return err
	}
	_, err := s.Apply()
	return err
}

// Finish ends a move to this machine: folders that are not in their place yet go
// there, keep puts keys and passwords where they are kept here, and Hearth is awake.
func Finish(dir statedir.Dir, keep func(values []byte) error) (restore.Journal, error) {
	s, err := Read(dir)
	if err != nil {
		return restore.Journal{}, err
	}
	if s.Phase != Arriving {
		return restore.Journal{}, ErrOther
	}
	done, err := s.swapped(dir)
	if err != nil {
		return restore.Journal{}, err
	}
	if !done {
		return restore.Journal{}, ErrAgain
	}
	if restore.Half(dir) {
		if _, err := restore.Resume(dir); err != nil {
			return restore.Journal{}, err
		}
	}
	failpoint.Hit("move:swapped")
	values, err := os.ReadFile(valuesFile(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return restore.Journal{}, err
	}
	if len(values) > 0 {
		if err := keep(values); err != nil {
			return restore.Journal{}, fmt.Errorf("%w: keys and passwords: %w", ErrUnfinished, err)
		}
	}
	j, err := restore.Read(dir)
	if err != nil {
		return j, err
	}
	return j, wake(dir)
}
