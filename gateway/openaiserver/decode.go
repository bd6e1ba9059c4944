package openaiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// decode reads JSON whose shape was looked at first.
func decode(raw []byte, v any) error {
	if err := protocol.ScanJSON(raw); err != nil {
		return Invalid("", "The request is not JSON that Hearth takes: %v.", err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) && kind.Field == "" {
			return Invalid("", "The request is a JSON object.")
		}
		if errors.As(err, &kind) {
			return mistyped(raw, kind)
		}
		var own *Error
		if errors.As(err, &own) {
			return own
		}
		return Invalid("", "The request cannot be read: %s.", clip(err.Error(), 200))
	}
	return nil
}

// mistyped says which value is of another type than it should be. The decoder's own
// name for it has names of our types in it, and no places in lists.
func mistyped(raw []byte, e *json.UnmarshalTypeError) *Error {
	name := clip(pathAt(raw, e.Offset), 100)
	want := map[reflect.Kind]string{
		reflect.String: "a text", reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Float64: "a number",
		reflect.Int: "a whole number", reflect.Int64: "a whole number",
	}[e.Type.Kind()]
	if want == "" {
		want = "an object"
	}
	got, isNumber := strings.CutPrefix(e.Value, "number ")
	if isNumber && !strings.ContainsAny(got, ".eE") || isNumber && e.Type.Kind() == reflect.Float64 {
		return Invalid(name, "%s must not be %s, which is too large.", name, clip(got, 40))
	}
	switch {
	case isNumber:
		got = clip(got, 40)
	case e.Value == "string":
		got = "a text"
	case e.Value == "array":
		got = "a list"
	case e.Value == "object":
		got = "an object"
	case e.Value == "bool":
		got = "true or false"
	default:
		got = "a " + e.Value
	}
	return Invalid(name, "%s must not be %s, but %s.", name, got, want)
}

// pathAt is the way to the value that ends, or whose list or object begins, at a place
// in sound JSON: messages[0].role.
func pathAt(raw []byte, offset int64) string {
	type level struct {
		list bool
		at   int
		key  string
		open bool // the value of key has not come
	}
	var stack []level
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err != nil {
			break
		}
		delim, isDelim := t.(json.Delim)
		if top := len(stack) - 1; top >= 0 && (!isDelim || delim == '{' || delim == '[') {
			l := &stack[top]
			switch {
			case l.list:
				l.at++
			case !l.open:
				l.key, l.open = t.(string), true
				continue
			default:
				l.open = false
			}
		}
		if d.InputOffset() >= offset {
			break
		}
		switch {
		case !isDelim:
		case delim == '{' || delim == '[':
			stack = append(stack, level{list: delim == '[', at: -1})
		default:
			stack = stack[:len(stack)-1]
		}
	}
	var b strings.Builder
	for _, l := range stack {
		switch {
		case l.list:
			fmt.Fprintf(&b, "[%d]", l.at)
		case b.Len() > 0:
			b.WriteString("." + l.key)
		default:
			b.WriteString(l.key)
		}
	}
	return b.String()
}
