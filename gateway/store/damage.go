package store

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// A damaged page is found when it is read, which may be long after the start:
// bbolt then panics, or a read behind the end of a mapped file faults. Both are
// turned into ErrDamaged here, told once, and nothing is read or written after
// that: what a damaged tree says is as likely wrong as right.

// boltFrames begin the names of bbolt's functions.
const boltFrames = "go.etcd.io/bbolt"

// fileFault is a panic that was seen to come from the file and goes on.
type fileFault struct{ cause any }

func (f fileFault) String() string { return fmt.Sprint(f.cause) }

// guard runs fn, which may touch the file.
func (db *DB) guard(fn func() error) (err error) {
	if err := db.damage(); err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if !fromFile(r) {
			panic(r) // a mistake of whoever reads, not of the file
		}
		err = db.foundDamage(r)
	}()
	if err = fn(); errors.Is(err, ErrDamaged) { // a record that cannot be decoded
		db.blemish.CompareAndSwap(nil, &err)
	}
	return err
}

// Blemish is what could not be read of a file that is whole otherwise, nil when
// nothing was found.
func (db *DB) Blemish() error {
	if p := db.blemish.Load(); p != nil {
		return *p
	}
	return nil
}

// fromFile tells whether a panic that is being recovered came from what the
// file holds: bbolt's own, or a read of memory that is not there.
func fromFile(r any) bool {
	if _, again := r.(fileFault); again {
		return true
	}
	if _, fault := r.(interface{ Addr() uintptr }); fault {
		return true
	}
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for panicked := false; ; {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicked = true
		case panicked && !strings.HasPrefix(f.Function, "runtime."):
			return strings.HasPrefix(f.Function, boltFrames)
		}
		if !more {
			return false
		}
	}
}

// foundDamage keeps the first damage and tells it.
func (db *DB) foundDamage(r any) error {
	err := fmt.Errorf("%w: %v", ErrDamaged, r)
	if db.damaged.CompareAndSwap(nil, &err) && db.onDamage != nil {
		db.onDamage(err)
	}
	return *db.damaged.Load()
}

// damage is what was found, nil while nothing was.
func (db *DB) damage() error {
	if p := db.damaged.Load(); p != nil {
		return *p
	}
	return nil
}

// checkInstall refuses to start empty where a store has been: a file that is
// gone, not mounted or emptied by a power cut must not read as "no messages".
func checkInstall(path string) error {
	marker := markerOf(path)
	if _, err := os.Stat(marker); err != nil {
		return nil
	}
	st, err := os.Stat(path)
	what := "is missing"
	switch {
	case err == nil && st.Size() == 0:
		what = "is empty"
	case !os.IsNotExist(err):
		return nil
	}
	return fmt.Errorf("%w: %s %s although Hearth has kept messages here; to start without them, delete %s", ErrDamaged, path, what, marker)
}
