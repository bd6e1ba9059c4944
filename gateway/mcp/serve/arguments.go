package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// read takes the arguments of a call as the tool's schema has them.
func read(args json.RawMessage, v any) error {
	err := json.Unmarshal(args, v)
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("the arguments are not what the tool's schema says: %s must be %s", strings.ToLower(kind.Field[:1])+kind.Field[1:],
			kindName(kind.Type))
	}
	return errors.New("the arguments are not what the tool's schema says: they must be a JSON object")
}

func kindName(t reflect.Type) string {
	if t.Kind() == reflect.String {
		return "a string"
	}
	return "an integer"
}

// rows is a limit that a client gave, or the default one.
func rows(n int) (int, error) {
	switch {
	case n < 0 || n > maxRows:
		return 0, fmt.Errorf("limit must be from 1 to %d", maxRows)
	case n == 0:
		return maxRows, nil
	}
	return n, nil
}
