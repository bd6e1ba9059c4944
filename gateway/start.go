package gateway

import (
	"context"
	"io"
	"log/slog"
	"slices"

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

// ends are what gives back what was opened: the last first, and the log after all
// others, which may have something to say.
type ends struct {
	log  *slog.Logger
	list []end
}

type end struct {
	what  string
	close func(context.Context) error
}

func (e *ends) add(what string, close func(context.Context) error) {
	e.list = append(e.list, end{what, close})
}

// plain is add for what cannot fail.
func (e *ends) plain(close func()) {
	e.add("", func(context.Context) error { close(); return nil })
}

// logTo says where to complain, and what to close at the very end.
func (e *ends) logTo(log *slog.Logger, file io.Closer) {
	e.log = log
	e.list = slices.Insert(e.list, 0, end{"the log", func(context.Context) error { return file.Close() }})
}

func (e *ends) all(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	for _, end := range slices.Backward(e.list) {
		if err := end.close(ctx); err != nil {
			e.log.Error("something did not end as it should", "what", end.what, "err", err)
		}
	}
}
