package wire

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Codes of errors. Any other is a failure that passes.
const (
	CodeRefused   = 1 // the network will never take it
	CodeUncertain = 2 // nobody knows whether it arrived
	CodeAuth      = 3 // the credential is not accepted
	CodeRate      = 4 // wait; data is {"afterMs": n}
)

type rate struct {
	AfterMs int64 `json:"afterMs"`
}

// ErrorOf writes an error of a channel for the wire.
func ErrorOf(err error) *jsonrpc2.Error {
	e := &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
	var limit *channel.RateLimit
	switch {
	case errors.As(err, &limit):
		e.Code = CodeRate
		e.SetError(rate{limit.After.Milliseconds()})
	case errors.Is(err, channel.ErrRefused):
		e.Code = CodeRefused
	case errors.Is(err, channel.ErrUncertain):
		e.Code = CodeUncertain
	case errors.Is(err, channel.ErrAuth):
		e.Code = CodeAuth
	}
	return e
}

// failure is an error of the other side with what it means here.
type failure struct {
	text string
	kind error
}

func (f failure) Error() string { return f.text }
func (f failure) Unwrap() error { return f.kind }

// Longest words of an error, in bytes; a program's are shown to people.
const maxWords = 600

// Error reads the error of a call; one that is not the other side's is returned as
// it is.
func Error(err error) error {
	var e *jsonrpc2.Error
	if !errors.As(err, &e) {
		return err
	}
	f := failure{text: cut(e.Message)}
	switch e.Code {
	case CodeRefused:
		f.kind = channel.ErrRefused
	case CodeUncertain:
		f.kind = channel.ErrUncertain
	case CodeAuth:
		f.kind = channel.ErrAuth
	case CodeRate:
		limit := rate{AfterMs: 1000}
		if e.Data != nil {
			_ = json.Unmarshal(*e.Data, &limit)
		}
		after := time.Duration(limit.AfterMs) * time.Millisecond
		return &channel.RateLimit{After: min(max(after, 0), time.Hour)}
	}
	return f
}

func cut(s string) string {
	if len(s) > maxWords {
		s = s[:maxWords] + "…"
	}
	return s
}
