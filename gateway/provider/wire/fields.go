package wire

import (
	"bytes"
	"encoding/json"
	"errors"
)

// errNoObject: bytes that are not one JSON object.
var errNoObject = errors.New("it is not a JSON object")

// eachField tells the fields of an object in the order in which they stand, each as
// often as it is there, their names without escapes. Values are passed over and
// neither read nor checked: most of a request is the conversation, which whoever
// looks for a few small fields need not decode. What is no object to its end is an
// error.
func eachField(object []byte, tell func(name string, value json.RawMessage) error) error {
	rest := bytes.TrimSpace(object)
	if len(rest) < 2 || rest[0] != '{' {
		return errNoObject
	}
	rest = bytes.TrimSpace(rest[1:])
	for len(rest) > 0 && rest[0] == '"' {
		n := pastString(rest)
		var name string
		if n == 0 || json.Unmarshal(rest[:n], &name) != nil {
			return errNoObject
		}
		if rest = bytes.TrimSpace(rest[n:]); len(rest) == 0 || rest[0] != ':' {
			return errNoObject
		}
		if n = pastValue(rest[1:]); n == 0 {
			return errNoObject
		}
		if err := tell(name, bytes.TrimSpace(rest[1:n+1])); err != nil {
			return err
		}
		if rest = rest[n+1:]; len(rest) > 1 && rest[0] == ',' {
			rest = bytes.TrimSpace(rest[1:])
		}
	}
	if string(rest) != "}" {
		return errNoObject
	}
	return nil
}

// pastString is the length of the string at the beginning, 0 when it has no end.
func pastString(b []byte) int {
	for i := 1; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0
		}
		i += n
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
	return 0
}

// pastValue is the length of the value at the beginning up to the comma or bracket
// behind it, 0 when it has no end.
func pastValue(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := pastString(b[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return 0
}
