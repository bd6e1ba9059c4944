package openaiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/hearth-assistant/hearth/gateway/pairing/admission"
)

// Error is a refusal in the form that programs know.
type Error struct {
	Status  int
	Type    string // invalid_request_error, …
	Code    string // "" = null
	Param   string // "" = null
	Text    string
	Wait    time.Duration // when to try again; 0 = nobody knows
	NoRetry bool          // the same request will fare no better
}

func (e *Error) Error() string { return e.Text }

// ErrNoVectors: no model for vectors is set up.
var ErrNoVectors = errors.New("no model makes vectors here; set agents.defaults.memorySearch.provider and .model " +
	"(docs/configuration.md) and try again")

// Invalid is a request that cannot be served as it is.
func Invalid(param, format string, a ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Param: param, Text: fmt.Sprintf(format, a...)}
}

// NoModel is a name that nobody answers to.
func NoModel(format string, a ...any) *Error {
	return &Error{Status: http.StatusNotFound, Type: "invalid_request_error", Code: "model_not_found", Param: "model",
		Text: fmt.Sprintf(format, a...)}
}

// Busy is a refusal for now.
func Busy(wait time.Duration, code, text string) *Error {
	return &Error{Status: http.StatusTooManyRequests, Type: "rate_limit_error", Code: code, Text: text, Wait: wait}
}

func forbidden(format string, a ...any) *Error {
	return &Error{Status: http.StatusForbidden, Type: "permission_error", Code: "insufficient_permissions", Text: fmt.Sprintf(format, a...)}
}

// asError gives any error the form of programs. What is not meant for them is
// not told.
func asError(err error) *Error {
	var own *Error
	var large *http.MaxBytesError
	if known, ok := admission.Refused(err); ok {
		return ofRefusal(known)
	}
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, ErrNoVectors):
		return &Error{Status: http.StatusNotImplemented, Type: "api_error", Code: "not_implemented", Text: err.Error(), NoRetry: true}
	case errors.As(err, &large):
		return &Error{Status: http.StatusRequestEntityTooLarge, Type: "invalid_request_error", Code: "request_too_large",
			Text: fmt.Sprintf("The request has more than %d MB. Send less at once, and large pictures smaller.", large.Limit>>20)}
	}
	return &Error{Status: http.StatusInternalServerError, Type: "api_error", Text: "Hearth could not do this; `hearth logs` has the cause."}
}

// ofRefusal is how it looks to a program that it is not let in.
func ofRefusal(r *admission.Refusal) *Error {
	switch r.Status {
	case http.StatusTooManyRequests:
		return Busy(r.Wait, "too_many_failures", r.Text)
	case http.StatusForbidden:
		return forbidden("%s", r.Text)
	}
	return &Error{Status: r.Status, Type: "authentication_error", Code: "invalid_api_key", Text: r.Text}
}

// maxRetryWait is how long OpenAI's clients wait at most when they are told to: told
// more, they try again within seconds, in vain.
const maxRetryWait = time.Minute

// ofEnd is how a run that did not end well looks to a program.
func ofEnd(e End) *Error {
	// A retry asks everything anew, so clients make none by themselves, but where a
	// service names a time that is near.
	out := &Error{Status: http.StatusBadGateway, Type: "api_error", Text: e.Problem, Wait: e.Wait,
		NoRetry: e.Wait <= 0 || e.Wait > maxRetryWait}
	switch {
	case e.State == Stopped:
		out.Status, out.Code, out.Text = http.StatusConflict, "stopped", "The answer was stopped in Hearth."
	case e.State == Dropped:
		return Busy(5*time.Second, "queue_full", "Too many messages were waiting in this conversation, so this one was dropped. Send it again.")
	case e.Kind == "rate_limit":
		out.Status, out.Type, out.Code = http.StatusTooManyRequests, "rate_limit_error", "rate_limit_exceeded"
		out.NoRetry = e.Wait > maxRetryWait // its text says when to try again, and be it in a minute
	case e.Kind == "timeout":
		out.Status, out.Code = http.StatusGatewayTimeout, "timeout"
	case e.Kind == "context_length":
		out.Status, out.Type, out.Code = http.StatusBadRequest, "invalid_request_error", "context_length_exceeded"
	case e.Kind == "refusal":
		out.Status, out.Type, out.Code = http.StatusBadRequest, "invalid_request_error", "content_filter"
	}
	if out.Text == "" {
		out.Text = "The answer ended without words. Try again."
	}
	return out
}

// body is the error as JSON.
func (e *Error) body() map[string]any {
	null := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return map[string]any{"error": map[string]any{"message": e.Text, "type": e.Type, "code": null(e.Code), "param": null(e.Param)}}
}

// write answers with the error.
func (e *Error) write(w http.ResponseWriter) {
	raw, err := json.Marshal(e.body())
	if err != nil { // strings always can be
		raw = []byte(`{}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if e.Wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.Wait.Seconds()))))
	}
	if e.NoRetry {
		h.Set("X-Should-Retry", "false")
	}
	if e.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(e.Status)
	_, _ = w.Write(raw)
}
