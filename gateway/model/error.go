package model

import (
	"errors"
	"fmt"
	"time"
)

// Class sorts provider failures by what a person or a failover rule can do
// about them.
type Class string

const (
	ClassAuth        Class = "auth"           // key missing, wrong or not allowed (401, 403)
	ClassBilling     Class = "billing"        // no credit (402, or billing words in 400/403/429)
	ClassRateLimit   Class = "rate_limit"     // 429
	ClassOverloaded  Class = "overloaded"     // 529, 503
	ClassServer      Class = "server"         // other 5xx
	ClassTimeout     Class = "timeout"        // no first byte, or silence mid-stream
	ClassConnect     Class = "connect"        // refused, DNS, TLS
	ClassInterrupted Class = "interrupted"    // the stream was cut before its end
	ClassMalformed   Class = "malformed"      // bytes that are not the dialect
	ClassEmpty       Class = "empty"          // the model ended without saying anything
	ClassContext     Class = "context_length" // the conversation is too long
	ClassNoModel     Class = "model_not_found"
	ClassRefusal     Class = "refusal"
	ClassInvalid     Class = "invalid_request" // other 4xx
	ClassUnknown     Class = "unknown"
)

// Error is a failed model call, classified from the raw answer before any
// text was made for people.
type Error struct {
	Class      Class
	Ref        Ref           // who failed
	Status     int           // HTTP status, 0 when there was none
	RetryAfter time.Duration // as asked by the provider, 0 = not said; never negative, capped at 24 h
	Detail     string        // the provider's own words, one line, at most 200 bytes, control characters removed, secrets redacted
	Err        error         // what was underneath, may be nil
}

func (e *Error) Error() string {
	s := fmt.Sprintf("model %s: %s", e.Ref, e.Class)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	} else if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of a model error anywhere in err's chain,
// ClassUnknown otherwise.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ClassUnknown
}
