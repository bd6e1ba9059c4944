package protocol

import (
	"errors"
	"fmt"
	"strings"
)

// Code is the closed set of top-level error codes (protocol.md §3.1).
type Code string

const (
	CodeInvalidRequest Code = "INVALID_REQUEST"
	CodeForbidden      Code = "FORBIDDEN"
	CodeNotPaired      Code = "NOT_PAIRED"
	CodeUnavailable    Code = "UNAVAILABLE"
	CodeNotLinked      Code = "NOT_LINKED"
	CodeAgentTimeout   Code = "AGENT_TIMEOUT"
)

// Error is what a client sees. Message is for people: what happened, why, and
// what to do next. Details.code (when present) is for programs.
type Error struct {
	Code         Code           `json:"code"`
	Message      string         `json:"message"`
	Details      map[string]any `json:"details,omitempty"`
	Retryable    bool           `json:"retryable,omitempty"`
	RetryAfterMs int64          `json:"retryAfterMs,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Invalid is INVALID_REQUEST with a formatted message.
func Invalid(format string, a ...any) *Error {
	return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf(format, a...)}
}

// InvalidParams is the answer to parameters of the wrong shape.
func InvalidParams(method, format string, a ...any) *Error {
	return Invalid("invalid %s params: %s", method, fmt.Sprintf(format, a...))
}

// Unavailable is a passing failure; retryAfterMs 0 means the client decides.
func Unavailable(retryAfterMs int64, format string, a ...any) *Error {
	return &Error{Code: CodeUnavailable, Message: fmt.Sprintf(format, a...), Retryable: true, RetryAfterMs: retryAfterMs}
}

// With returns a copy of e that has the detail key set.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Details = make(map[string]any, len(e.Details)+1)
	for k, v := range e.Details {
		c.Details[k] = v
	}
	c.Details[key] = value
	return &c
}

// UnknownMethod is the literal text that clients match on.
func UnknownMethod(method string) *Error { return Invalid("unknown method: %s", method) }

// MissingScope is the 9.6 form, whose message 5.22 clients match too.
func MissingScope(s Scope) *Error {
	return &Error{Code: CodeForbidden, Message: "missing scope: " + string(s),
		Details: map[string]any{"code": "MISSING_SCOPE", "missingScope": s, "requiredScopes": []Scope{s}}}
}

// AsError turns any error into what may leave the gateway: an *Error in its
// chain as it is, anything else as UNAVAILABLE without internals.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		code, _ := e.Details["code"].(string)
		if r := RepairOf(code); r != "" && e.Details["repair"] == nil {
			return e.With("repair", r)
		}
		return e
	}
	return &Error{Code: CodeUnavailable, Message: "Hearth could not finish this because of an internal problem. Try again; if it stays, " +
		"run `hearth logs` and look for the last error."}
}

// Sentence makes one of the words of an error. A host or a file that they begin with
// keeps its letters.
func Sentence(s string) string {
	if first, _, _ := strings.Cut(s, " "); s != "" && !strings.ContainsAny(strings.TrimRight(first, ":,."), "./\\@:") {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	return strings.TrimSuffix(s, ".") + "."
}
