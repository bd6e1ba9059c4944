// Package startup opens what a start needs before anything else, the folder and the
// store, and says in words what keeps a gateway from starting and what to do about
// it. It makes no other part and starts nothing; package gateway does.
package startup

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/hearth-assistant/hearth/gateway/backup/restore"
	"github.com/hearth-assistant/hearth/gateway/move"
	"github.com/hearth-assistant/hearth/gateway/problem"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/recovery"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Error is a reason not to start that a restart does not mend.
type Error struct {
	What string // what happened
	Err  error  // why
	Fix  string // what to do, without a full stop
}

func (e *Error) Error() string {
	s := e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s + ". " + e.Fix + "."
}

func (e *Error) Unwrap() error { return e.Err }

// Cannot makes an *Error.
func Cannot(what string, err error, fix string) error { return &Error{What: what, Err: err, Fix: fix} }

// NoPort is why a port of this machine cannot be opened.
func NoPort(port int, err error) error {
	what := fmt.Sprintf("Port %d on this machine cannot be used", port)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return Cannot(what, errors.New("ports below 1024 are for the system"), "Choose another port with gateway.port or --port")
	case errors.Is(err, syscall.EADDRINUSE):
		err = errors.New("another program uses it")
	}
	return Cannot(what, err, "Stop the program that holds it, or choose another port with gateway.port or --port")
}

// RestoreStore is what to do about a part of the store that cannot be read.
const RestoreStore = "Restore the store from a backup"

// Damaged says a damaged store to whoever starts the gateway.
func Damaged(dir statedir.Dir, err error) error {
	return Cannot("Hearth's database is damaged", damage{dir, err}, "`hearth store check` says how much of it can be read; "+
		recovery.Advice(dir))
}

// damage says which file it is; what the store said of it is for the log.
type damage struct {
	dir statedir.Dir
	err error
}

func (d damage) Error() string { return "a part of " + d.dir.Store() + " cannot be read" }
func (d damage) Unwrap() error { return d.err }

// Folder refuses a state folder that others could tamper with, makes what is open in
// it private again, and returns warnings, such as of one that is copied elsewhere.
func Folder(dir statedir.Dir) ([]protocol.Problem, error) {
	if err := dir.Ensure(); err != nil {
		return nil, Cannot("Hearth cannot use its folder", err, "Give it a folder that you may write, with HEARTH_HOME")
	}
	if err := dir.Check(); err != nil {
		return nil, Cannot("Hearth's folder is not safe", err, "Mend that, or give Hearth another folder with HEARTH_HOME")
	}
	if move.Asleep(dir).Phase == move.Arriving {
		return nil, Cannot("A move to this machine was cut short", nil, "Finish it with `hearth move import --finish`, or go back to what was "+
			"here with `hearth backup undo` and then `hearth move wake`")
	}
	if restore.Half(dir) {
		return nil, Cannot("A restore was cut short", nil, "Finish it with `hearth backup restore --finish`, or take it back with `hearth "+
			"backup undo`")
	}
	fixed, err := dir.Tighten()
	if err != nil {
		return nil, Cannot("Hearth's folder cannot be made private", err, "Give it a folder that belongs to you, with HEARTH_HOME")
	}
	return problem.OfFolder(dir, fixed), nil
}

// Store opens the folder's store, whose lock keeps a second gateway away. The error of
// a damaged one is not said in words yet: Damaged does.
func Store(dir statedir.Dir, now time.Time, onDamage func(error)) (*store.DB, error) {
	db, err := store.Open(dir.Store(), store.Options{OnDamage: onDamage})
	switch {
	case errors.Is(err, store.ErrLocked):
		owner := ""
		if r, rerr := dir.ReadRuntime(); rerr == nil {
			owner = fmt.Sprintf(" (process %d at %s)", r.PID, r.URL)
		}
		return nil, Cannot("Hearth is already running on "+string(dir)+owner, err,
			"Use it with `hearth open`, stop it first, or give this one another HEARTH_HOME")
	case errors.Is(err, store.ErrDamaged):
		return nil, err
	case err != nil:
		return nil, Cannot("Hearth's store cannot be opened", err,
			"Nothing was changed. Restore "+dir.Store()+" from a backup, or move it away to start empty")
	}
	// Whoever wrote it is dead, and its number and port may be somebody else's.
	dir.ForgetRuntime()
	dir.Sweep(now)
	return db, nil
}
