package approval

import (
	"errors"
	"fmt"
)

// What Permit may answer instead of a grant. The words are for the model, which
// tells the person.
var (
	// ErrExpired: nobody decided in time.
	ErrExpired = errors.New("nobody decided about this in time, so it was not done. Say what you wanted to do and why, and go on without it")
	// ErrUnattended: nobody who may decide can be reached.
	ErrUnattended = errors.New("this needs the owner's approval and nobody who may give it can be reached now, so it was not done. Say so, " +
		"and go on without it")
	// ErrFlood: too many requests wait in the session.
	ErrFlood = errors.New("too many requests of this session wait for the owner already, so this one was not asked. Wait for their decision")
	// ErrTired: the owner has said no so often in this run that it is not asked
	// again.
	ErrTired = errors.New("the owner did not allow several things in this run, so nothing more is asked. Stop trying, say what you wanted " +
		"to do and why, and wait for an answer")
	// ErrUsed: an approval for once went to an identical request.
	ErrUsed = errors.New("the owner allowed this once, and that was used by an identical call. It was not done a second time")
	// ErrTooLong: more than a person can read.
	ErrTooLong = fmt.Errorf("this is longer than %d KiB, which nobody can read before they allow it, so it was not done. Put it into a "+
		"script in the workspace and run that", MaxBytes>>10)
	// ErrMalformed: the asker made a mistake.
	ErrMalformed = errors.New("this request for an approval cannot be shown")
	// ErrWithdrawn: who asked does not wait any more.
	ErrWithdrawn = errors.New("the run that asked for this has ended")
)

// DeniedError: the owner, a rule or the settings said no.
type DeniedError struct {
	Reason string // "the owner said no", "a rule forbids it", …
	Title  string
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("Not done: %s (%s). Do not try the same in another way; say what you wanted to do and why, or go on without it.",
		e.Title, e.Reason)
}

// What Resolve may answer.
var (
	ErrNotFound = errors.New("there is no such request; it may be over")
	// ErrResolved: somebody was faster, or its time is over.
	ErrResolved = errors.New("this request was decided before, or its time is over")
	// ErrNotYours: the asker cannot decide about its own request.
	ErrNotYours = errors.New("who asked cannot allow it; another device of the owner has to")
	// ErrScope: the decision goes further than this request allows.
	ErrScope = errors.New("this can only be allowed more narrowly")
)
