package gemini

import (
	"encoding/json"
	"slices"
	"strings"
)

// These bound a schema; references that lead in circles end there.
const (
	maxDepth = 24
	maxNodes = 4096
)

// Schema is the part of a JSON Schema that the service understands: it refuses a
// whole request over one keyword that it does not know. What is left out only
// describes; nothing is relied on to check arguments but the tool itself. It is
// nil for a tool without parameters.
func Schema(raw json.RawMessage) json.RawMessage {
	var root map[string]any
	if json.Unmarshal(raw, &root) != nil {
		return nil
	}
	c := cleaner{root: root, nodes: new(int)}
	out := c.clean(root, 0)
	if props, _ := out["properties"].(map[string]any); out["type"] == "object" && len(props) == 0 {
		return nil
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return b
}

type cleaner struct {
	root  map[string]any
	nodes *int
}

// copied are keywords that mean the same there.
var copied = [...]string{"title", "description", "nullable", "minItems", "maxItems", "minProperties", "maxProperties", "minLength",
	"maxLength", "pattern", "minimum", "maximum"}

func (c cleaner) clean(in map[string]any, depth int) map[string]any {
	out := map[string]any{}
	if *c.nodes++; depth > maxDepth || *c.nodes > maxNodes {
		return out
	}
	if ref, ok := in["$ref"].(string); ok {
		if to := c.follow(ref); to != nil {
			out = c.clean(to, depth+1)
		}
	}
	for _, k := range copied {
		if v, ok := in[k]; ok {
			out[k] = v
		}
	}
	c.types(in, out)
	c.values(in, out)
	c.nested(in, out, depth)
	return out
}

// types turns ["string", "null"] into a type that may be null.
func (c cleaner) types(in, out map[string]any) {
	switch t := in["type"].(type) {
	case string:
		out["type"] = t
	case []any:
		for _, v := range t {
			if s, ok := v.(string); ok && s == "null" {
				out["nullable"] = true
			} else if ok && out["type"] == nil {
				out["type"] = s
			}
		}
	}
}

// values are what a value may be. Only texts can be listed.
func (c cleaner) values(in, out map[string]any) {
	list, _ := in["enum"].([]any)
	if v, ok := in["const"]; ok {
		list = []any{v}
	}
	var texts []string
	for _, v := range list {
		if s, ok := v.(string); ok && s != "" {
			texts = append(texts, s)
		}
	}
	if len(texts) > 0 && len(texts) == len(list) {
		out["enum"], out["type"] = texts, "string"
	}
	if f, ok := in["format"].(string); ok {
		kinds := map[string][]string{"string": {"date-time", "enum"}, "integer": {"int32", "int64"}, "number": {"float", "double"}}
		if t, _ := out["type"].(string); slices.Contains(kinds[t], f) {
			out["format"] = f
		}
	}
}

func (c cleaner) nested(in, out map[string]any, depth int) {
	if props, ok := in["properties"].(map[string]any); ok {
		kept := map[string]any{}
		for name, p := range props {
			if m, ok := p.(map[string]any); ok {
				kept[name] = c.clean(m, depth+1)
			}
		}
		out["properties"] = kept
		if out["type"] == nil {
			out["type"] = "object"
		}
		var required []string
		list, _ := in["required"].([]any)
		for _, v := range list {
			if s, ok := v.(string); ok && kept[s] != nil {
				required = append(required, s)
			}
		}
		if len(required) > 0 {
			out["required"] = required
		}
	}
	if items, ok := in["items"].(map[string]any); ok {
		out["items"] = c.clean(items, depth+1)
	} else if out["type"] == "array" && out["items"] == nil {
		out["items"] = map[string]any{"type": "string"} // the service wants to know
	}
	c.choices(in, out, depth)
}

// choices keeps anyOf and oneOf; allOf is merged.
func (c cleaner) choices(in, out map[string]any, depth int) {
	for _, k := range []string{"anyOf", "oneOf"} {
		list, _ := in[k].([]any)
		var kept []map[string]any
		for _, v := range list {
			m, ok := v.(map[string]any)
			switch {
			case ok && m["type"] == "null":
				out["nullable"] = true
			case ok:
				kept = append(kept, c.clean(m, depth+1))
			}
		}
		if len(kept) == 1 {
			for name, v := range kept[0] {
				if out[name] == nil {
					out[name] = v
				}
			}
		} else if len(kept) > 1 {
			out["anyOf"] = kept
		}
	}
	list, _ := in["allOf"].([]any)
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			for name, v := range c.clean(m, depth+1) {
				if out[name] == nil {
					out[name] = v
				}
			}
		}
	}
}

// follow finds what "#/$defs/name" names.
func (c cleaner) follow(ref string) map[string]any {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := any(c.root)
	for _, name := range strings.Split(path, "/") {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	m, _ := at.(map[string]any)
	return m
}
