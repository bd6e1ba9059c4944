package move

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/backup/restore"
	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Phases of a move. Without a state, Hearth is awake.
const (
	Leaving  = "leaving"  // asleep; the other machine cannot open what it gets yet
	Left     = "left"     // asleep; the other machine has, or may have, everything
	Arriving = "arriving" // asleep; what came is being put in its place here
)

// What callers decide by.
var (
	// ErrAwake: there is no move.
	ErrAwake = errors.New("this Hearth is not being moved")
	// ErrOther: there is a move, and it is another one.
	ErrOther = errors.New("this Hearth is part of another move")
	// ErrSure: only its person knows that the other machine does not run.
	ErrSure = errors.New("the other machine may be awake")
	// ErrUnfinished: what came is not all in its place.
	ErrUnfinished = errors.New("what came from the other machine is not all in its place yet")
)

// State is why a Hearth sleeps; the zero State is that of one that is awake. It lies
// beside the state folder, which restores and moves exchange.
type State struct {
	Phase  string    `json:"phase"`
	ID     string    `json:"id"` // of the move
	At     time.Time `json:"at"`
	Device string    `json:"device,omitempty"` // the key of the machine that asked
	Name   string    `json:"name,omitempty"`   // what that is called, for people
	File   string    `json:"file,omitempty"`   // the file on a disk, when it is that
	// Swap is when the restore began that puts things in their place.
	Swap time.Time `json:"swap,omitzero"`
	// Arrived: the other machine said that it is awake.
	Arrived bool `json:"arrived,omitempty"`
}

func beside(dir statedir.Dir, word string) string { return strings.TrimRight(string(dir), `/\`) + word }

// Path is the file of the state.
func Path(dir statedir.Dir) string { return beside(dir, ".move.json") }

// Folder holds what is on its way, and the key of it.
func Folder(dir statedir.Dir) string { return beside(dir, ".move") }

// Read is the state of a Hearth, ErrAwake when it is awake. One that cannot be read
// counts as asleep: two that run as one do more harm than none.
func Read(dir statedir.Dir) (State, error) {
	raw, err := os.ReadFile(Path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, ErrAwake
	}
	s := State{Phase: Left}
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if s.Phase == "" {
		s.Phase = Left
	}
	if err != nil {
		return State{Phase: Left}, fmt.Errorf("read whether this Hearth was moved (%s): %w", Path(dir), err)
	}
	return s, nil
}

// Asleep is the state of a Hearth that may have to sleep.
func Asleep(dir statedir.Dir) State {
	s, _ := Read(dir) // what cannot be read is asleep too
	return s
}

// Sleeps reports a Hearth that must not act.
func (s State) Sleeps() bool { return s.Phase != "" }

func (s State) write(dir statedir.Dir) error {
	raw, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	failpoint.Hit("move:" + s.Phase)
	if err := statedir.WriteFile(Path(dir), append(raw, '\n')); err != nil {
		return fmt.Errorf("note how far the move is: %w", err)
	}
	failpoint.Hit("move:" + s.Phase + "-noted")
	return nil
}

// Leave puts a Hearth to sleep, so that it can be packed. One that sleeps for the
// same move already does so still.
func Leave(ctx context.Context, dir statedir.Dir, s State) error {
	unlock, err := dir.Lock(ctx, "move")
	if err != nil {
		return err
	}
	defer unlock()
	old, err := Read(dir)
	switch {
	case errors.Is(err, ErrAwake):
	case err != nil:
		return err
	case old.ID == s.ID && old.Device == s.Device:
		return nil
	default:
		return ErrOther
	}
	s.Phase = Leaving
	if err := os.RemoveAll(Folder(dir)); err != nil { // of a move that was given up
		return fmt.Errorf("prepare the move: %w", err)
	}
	return s.write(dir)
}

// Wake wakes a Hearth. When the other machine may run as the same one already it
// needs sure, which only a person can be.
func Wake(ctx context.Context, dir statedir.Dir, sure bool) error {
	unlock, err := dir.Lock(ctx, "move")
	if err != nil {
		return err
	}
	defer unlock()
	s, err := Read(dir)
	switch {
	case errors.Is(err, ErrAwake):
		return err
	case err != nil && !sure:
		return err
	case s.Phase == Left && !sure:
		return ErrSure
	case s.Phase == Arriving:
		if done, err := s.swapped(dir); err != nil || done {
			return errors.Join(ErrUnfinished, err)
		}
	}
	return wake(dir)
}

// wake ends the move on this machine. The key goes first: what the other machine
// has then opens nowhere, unless it has the key already.
func wake(dir statedir.Dir) error {
	for _, name := range []string{KeyFile(dir), Folder(dir)} {
		if err := os.RemoveAll(name); err != nil {
			return fmt.Errorf("wake Hearth: %w", err)
		}
		if err := statedir.SyncDir(filepath.Dir(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("wake Hearth: %w", err)
		}
		failpoint.Hit("move:waking")
	}
	if err := os.Remove(Path(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("wake Hearth: %w", err)
	}
	return statedir.SyncDir(filepath.Dir(Path(dir)))
}

// swapped reports whether what came is in its place, or half so.
func (s State) swapped(dir statedir.Dir) (bool, error) {
	j, err := restore.Read(dir)
	if errors.Is(err, restore.ErrNothing) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return !s.Swap.IsZero() && j.At.Equal(s.Swap) && j.Phase != restore.Undone, nil
}
