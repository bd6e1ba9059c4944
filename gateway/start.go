package gateway

import (
	"github.com/hearth-assistant/hearth/gateway/rescue"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// StartError is a reason not to start that a restart does not mend.
type StartError struct {
	What string // what happened
	Err  error  // why
	Fix  string // what to do, without a full stop
}

func (e *StartError) Error() string {
	s := e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s + ". " + e.Fix + "."
}

func (e *StartError) Unwrap() error { return e.Err }

func cannot(what string, err error, fix string) error {
	return &StartError{What: what, Err: err, Fix: fix}
}

// restoreStore is what to do about a part of the store that cannot be read.
const restoreStore = "Restore the store from a backup"

// damagedError says it to whoever starts the gateway.
func damagedError(dir statedir.Dir, err error) error {
	return cannot("Hearth's database cannot be used", err, rescue.Advice(dir))
}
