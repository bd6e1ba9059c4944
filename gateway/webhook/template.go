package webhook

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Request is what templates may name.
type Request struct {
	Path    string // behind the address of hooks: "github"
	Payload any    // as encoding/json reads it, with json.Number
	Headers map[string]string
	Query   map[string]string
	Now     time.Time
}

// MaxRendered bounds a text that a template makes.
const MaxRendered = 256 << 10

// Templated reports whether a text holds an expression.
func Templated(text string) bool {
	_, rest, ok := strings.Cut(text, "{{")
	return ok && strings.Contains(rest, "}}")
}

// Render replaces {{payload}}, which is all that was sent, {{payload.a[0].b}},
// {{a[0].b}}, {{headers.x}}, {{query.x}}, {{path}} and {{now}}. What is not there
// becomes nothing; what is no text becomes JSON.
func Render(template string, r Request) string {
	var b strings.Builder
	for b.Len() < MaxRendered {
		head, rest, ok := strings.Cut(template, "{{")
		expr, tail, closed := strings.Cut(rest, "}}")
		if !ok || !closed {
			b.WriteString(template)
			break
		}
		b.WriteString(head)
		b.WriteString(shown(r.value(strings.TrimSpace(expr))))
		template = tail
	}
	text := b.String()
	return strings.ToValidUTF8(text[:min(len(text), MaxRendered)], "\uFFFD")
}

// Own cuts a template in two: the lines before the first one with an expression,
// which are the owner's words, and the rest, which brings words of others.
func Own(template string) (own, rest string) {
	at := strings.Index(template, "{{")
	if at < 0 || !Templated(template) {
		return template, ""
	}
	line := strings.LastIndexByte(template[:at], '\n') + 1
	return template[:line], template[line:]
}

func (r Request) value(expr string) any {
	switch expr {
	case "payload": // a field of this name is payload.payload
		return r.Payload
	case "path":
		return r.Path
	case "now":
		return r.Now.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	if name, ok := strings.CutPrefix(expr, "headers."); ok {
		return r.Headers[strings.ToLower(name)]
	}
	if name, ok := strings.CutPrefix(expr, "query."); ok {
		return r.Query[name]
	}
	if name, ok := strings.CutPrefix(expr, "payload."); ok {
		return at(r.Payload, name)
	}
	if _, ok := r.Payload.([]any); ok && strings.HasPrefix(expr, "payload[") {
		return at(r.Payload, strings.TrimPrefix(expr, "payload"))
	}
	return at(r.Payload, expr)
}

// at walks a path of names and [numbers].
func at(v any, path string) any {
	for path != "" {
		path = strings.TrimPrefix(path, ".")
		if rest, ok := strings.CutPrefix(path, "["); ok {
			digits, tail, closed := strings.Cut(rest, "]")
			list, isList := v.([]any)
			i, err := strconv.Atoi(digits)
			if !closed || !isList || err != nil || i < 0 || i >= len(list) {
				return nil
			}
			v, path = list[i], tail
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		m, ok := v.(map[string]any)
		if !ok || end == 0 {
			return nil
		}
		v, path = m[path[:end]], path[end:]
	}
	return v
}

func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
