package failover

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Reason is why a model did not answer, as state, logs and notices name it.
type Reason string

const (
	ReasonAuth          Reason = "auth"
	ReasonBilling       Reason = "billing"
	ReasonRateLimit     Reason = "rate_limit"
	ReasonOverloaded    Reason = "overloaded"
	ReasonTimeout       Reason = "timeout" // silence, cut streams, no connection, 5xx
	ReasonModelNotFound Reason = "model_not_found"
	ReasonFormat        Reason = "format" // the same request would fail again
	ReasonEmpty         Reason = "empty_response"
	ReasonNoDetails     Reason = "no_error_details"
	ReasonUnclassified  Reason = "unclassified"
	ReasonContext       Reason = "context_overflow"
	ReasonRefusal       Reason = "refusal"
	ReasonAborted       Reason = "aborted"
	ReasonLiveSwitch    Reason = "live_switch" // the person chose another model meanwhile
	ReasonUnknown       Reason = "unknown"
	noDetails                  = "unknown error (no error details in response)"
	maxDetail                  = 200
)

// Words are the reason as people read it, within a sentence.
func (r Reason) Words() string {
	switch r {
	case ReasonAuth:
		return "key not accepted"
	case ReasonBilling:
		return "no credit left"
	case ReasonRateLimit:
		return "rate limit"
	case ReasonOverloaded:
		return "service overloaded"
	case ReasonTimeout:
		return "no answer"
	case ReasonModelNotFound:
		return "model not found"
	case ReasonFormat:
		return "request not accepted"
	case ReasonEmpty:
		return "empty response"
	case ReasonContext:
		return "conversation too long"
	case ReasonRefusal:
		return "declined to answer"
	case ReasonAborted:
		return "was stopped"
	case ReasonLiveSwitch:
		return "another model was chosen"
	case ReasonNoDetails:
		return "no error details"
	}
	return "unknown failure"
}

// Classed is an error that knows its class without being a *model.Error: a
// model that cannot be asked at all.
type Classed interface {
	error
	ModelClass() model.Class
}

// ErrReselect is what a provider says that asked nothing, because the person
// chose another model before it did: the run follows the choice.
var ErrReselect = errors.New("another model was chosen")

// ReasonOf names why a call failed.
func ReasonOf(err error) Reason {
	var e *model.Error
	if errors.As(err, &e) {
		return reasonOf(e)
	}
	var c Classed
	if errors.As(err, &c) {
		return reasonOf(&model.Error{Class: c.ModelClass()})
	}
	switch {
	case errors.Is(err, ErrReselect):
		return ReasonLiveSwitch
	case errors.Is(err, context.Canceled):
		return ReasonAborted
	case errors.Is(err, context.DeadlineExceeded):
		return ReasonTimeout
	}
	return ReasonUnclassified
}

func reasonOf(e *model.Error) Reason {
	switch e.Class {
	case model.ClassAuth:
		return ReasonAuth
	case model.ClassBilling:
		return ReasonBilling
	case model.ClassRateLimit:
		return ReasonRateLimit
	case model.ClassOverloaded:
		return ReasonOverloaded
	case model.ClassServer:
		if strings.EqualFold(strings.TrimRight(e.Detail, "."), noDetails) {
			return ReasonNoDetails
		}
		return ReasonTimeout
	case model.ClassTimeout, model.ClassConnect, model.ClassInterrupted:
		return ReasonTimeout
	case model.ClassNoModel:
		return ReasonModelNotFound
	case model.ClassEmpty:
		return ReasonEmpty
	case model.ClassContext:
		return ReasonContext
	case model.ClassRefusal:
		return ReasonRefusal
	case model.ClassInvalid:
		if e.Status == 400 || e.Status == 422 {
			return ReasonFormat
		}
	}
	if strings.EqualFold(strings.TrimRight(e.Detail, "."), noDetails) {
		return ReasonNoDetails
	}
	return ReasonUnclassified // the raw words stay in the detail
}

// Advances reports whether another model may be asked after a failure of this
// kind. What would fail everywhere in the same way, what belongs to the
// summary of a long conversation, and what somebody wanted does not.
func (r Reason) Advances() bool {
	switch r {
	case ReasonFormat, ReasonContext, ReasonRefusal, ReasonAborted:
		return false
	}
	return true
}

// blames reports whether a failure is held against the account. A server that
// cannot be reached, or is unknown, is not its fault.
func blames(err error, r Reason) bool {
	switch r {
	case ReasonAuth, ReasonBilling, ReasonRateLimit, ReasonOverloaded:
		return true
	case ReasonTimeout, ReasonNoDetails:
		c := classOf(err)
		return c == model.ClassServer || c == model.ClassTimeout
	}
	return false
}

// loading reports whether a server says that its model is not in memory yet.
func loading(err error) bool {
	detail, status := detailOf(err)
	return status == 503 && strings.Contains(strings.ToLower(detail), "loading")
}

func retryAfter(err error) time.Duration {
	var e *model.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// detailOf is a failure in one line, and its HTTP status.
func detailOf(err error) (detail string, status int) {
	var e *model.Error
	if errors.As(err, &e) {
		if detail = e.Detail; detail == "" && e.Err != nil {
			detail = e.Err.Error()
		}
		return cut(detail), e.Status
	}
	return cut(err.Error()), 0
}

func cut(s string) string {
	return text.Ellipsis(text.Line(s), maxDetail)
}
