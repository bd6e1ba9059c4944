package protocol

import (
	"encoding/json"
	"errors"
	"reflect"
)

// Limits of the fields of a request frame.
const (
	MaxRequestID  = 256
	MaxMethodName = 128
)

// FrameError is why a message from a client is not a request.
type FrameError struct {
	// ID is the frame's own id when it has a usable one: an answer can name it.
	ID string
	// NotJSON is true for text that is no JSON at all; such messages are not
	// answered after hello.
	NotJSON bool
	// Reason is a short phrase without anything the client sent.
	Reason string
}

func (e *FrameError) Error() string { return "invalid request frame: " + e.Reason }

// Answer is what the client gets for the frame.
func (e *FrameError) Answer() *Error { return Invalid("invalid request frame: %s", e.Reason) }

// ParseFrame reads one request frame. Limits are checked on the bytes before
// anything is decoded; the error is always a *FrameError.
func ParseFrame(data []byte) (Request, error) {
	if err := scanJSON(data); err != nil {
		return Request{}, &FrameError{NotJSON: err.syntax, Reason: err.reason}
	}
	var f struct {
		Type   json.RawMessage `json:"type"`
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return Request{}, &FrameError{Reason: "must be an object"}
	}
	r := Request{Params: f.Params}
	id, ok := frameString(f.ID, MaxRequestID)
	if !ok {
		return Request{}, &FrameError{Reason: "id must be a string of 1 to 256 characters"}
	}
	r.ID = id
	if r.Type, ok = frameString(f.Type, MaxMethodName); !ok || r.Type != TypeRequest {
		return Request{}, &FrameError{ID: id, Reason: `type must be "req"`}
	}
	if r.Method, ok = frameString(f.Method, MaxMethodName); !ok {
		return Request{}, &FrameError{ID: id, Reason: "method must be a string of 1 to 128 characters"}
	}
	if len(f.Params) > 0 && f.Params[0] != '{' && string(f.Params) != "null" {
		return Request{}, &FrameError{ID: id, Reason: "params must be an object"}
	}
	return r, nil
}

// frameString decodes a non-empty string of at most limit bytes.
func frameString(raw json.RawMessage, limit int) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, s != "" && len(s) <= limit
}

// DecodeParams reads the parameters of a method. Absent parameters are {},
// unknown members are ignored (newer clients rely on it), and a wrong type is
// an InvalidParams that names the member.
func DecodeParams[T any](method string, raw json.RawMessage) (T, error) {
	var v, zero T
	if err := decodeParams(method, raw, &v); err != nil {
		return zero, err
	}
	return v, nil
}

// decodeParams is what DecodeParams does for every type alike, so that a
// hundred methods share its code.
func decodeParams(method string, raw json.RawMessage, v any) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	err := json.Unmarshal(raw, v)
	if err == nil {
		return nil
	}
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return InvalidParams(method, "must be a JSON object")
	}
	if wrong.Field == "" {
		return InvalidParams(method, "must be %s", kindName(wrong.Type))
	}
	return InvalidParams(method, "%s must be %s", wrong.Field, kindName(wrong.Type)).With("field", wrong.Field)
}

// MissingParam is the answer to an absent required member.
func MissingParam(method, name string) *Error {
	return InvalidParams(method, "must have required property '%s'", name).With("field", name)
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Pointer:
		return kindName(t.Elem())
	}
	return "an object"
}
