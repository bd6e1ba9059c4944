package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const maxDepth = 12

// safeSchema is a tool's schema as models get it: an object's, of a bearable
// size, with harmless words. What lies about being one is refused.
func safeSchema(in any) (json.RawMessage, error) {
	if in == nil {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	root, ok := in.(map[string]any)
	if !ok {
		return nil, errors.New("its schema is not an object")
	}
	if t, ok := root["type"]; ok && t != "object" {
		return nil, errors.New("its schema is not that of an object")
	}
	if p, ok := root["properties"]; ok && p != nil {
		props, ok := p.(map[string]any)
		if !ok {
			return nil, errors.New("the properties of its schema are not an object")
		}
		for name, v := range props {
			switch v.(type) {
			case map[string]any, bool:
			default:
				return nil, fmt.Errorf("the property %q of its schema is not a schema", clean(name, 80))
			}
		}
	}
	if r, ok := root["required"]; ok && r != nil && !texts(r) {
		return nil, errors.New("the required properties of its schema are not a list of names")
	}
	out, err := washed(root, 0)
	if err != nil {
		return nil, err
	}
	m, _ := out.(map[string]any)
	m["type"] = "object"
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("its schema cannot be written: %w", err)
	}
	if len(b) > maxSchema {
		return nil, fmt.Errorf("its schema is larger than %d KB", maxSchema>>10)
	}
	return b, nil
}

func texts(v any) bool {
	list, ok := v.([]any)
	for _, e := range list {
		if _, is := e.(string); !is {
			return false
		}
	}
	return ok
}

// washed copies a value with its words made harmless. References may only lead
// to places in the schema itself.
func washed(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("its schema is nested more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case string:
		return clean(v, maxDescription), nil
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			w, err := washed(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = w
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			if ref, is := e.(string); is && (name == "$ref" || name == "$dynamicRef") && !strings.HasPrefix(ref, "#") {
				return nil, errors.New("its schema refers to another document")
			}
			w, err := washed(e, depth+1)
			if err != nil {
				return nil, err
			}
			if c := clean(name, 256); c != name {
				return nil, errors.New("a name in its schema has characters that cannot be shown")
			}
			out[name] = w
		}
		return out, nil
	}
	return v, nil
}
