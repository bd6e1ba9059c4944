package store

import (
	"errors"
	"syscall"
)

var (
	// ErrLocked: another process has the store open.
	ErrLocked = errors.New("the store is in use by another process")
	// ErrDamaged: the file is not a store, or is cut short. Nothing was changed.
	ErrDamaged = errors.New("the store file is damaged or is not a Hearth store")
	// ErrNewer: a newer Hearth wrote the store. Nothing was changed.
	ErrNewer = errors.New("the store was written by a newer version of Hearth")
	// ErrFull: the disk has no room; nothing was written.
	ErrFull = errors.New("the disk is full")
	// ErrFailed: an earlier write failed in a way that leaves the disk's state
	// unknown, so no further write is acknowledged until a restart.
	ErrFailed = errors.New("the store could not be written and needs a restart")
	// ErrGone: the file is not where it was opened, because its folder was moved,
	// deleted or closed to us. Writes go on when it is back.
	ErrGone = errors.New("the store's file is not where it was opened")
	// ErrBusy: the file is being written anew already.
	ErrBusy = errors.New("the store is being compacted already")
	// ErrBehind: more was written beside a compaction than it can keep up with.
	// Nothing was changed.
	ErrBehind = errors.New("more is being written than compacting can keep up with")
	// ErrNoRoom: the disk has no room for what was to be written. Nothing was changed.
	ErrNoRoom = errors.New("the disk has too little room")
	// ErrOpenHere: the system does not let an open file be replaced. Nothing was
	// changed.
	ErrOpenHere = errors.New("this system does not let an open file be replaced")
	// ErrClosed: Close was called.
	ErrClosed = errors.New("the store is closed")
)

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || isFullOS(err)
}
