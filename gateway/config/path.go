package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Path names one place in the file. People write it with dots and brackets:
//
//	gateway.port
//	models.providers.openai.models[0].name
//	models.providers["my.id"].baseUrl     a key with a dot in it
//	models.providers.my\.id.baseUrl       the same with a backslash
type Path []Segment

// Segment is a key of an object or an index of an array.
type Segment struct {
	key   string
	index int // -1 for a key
}

// Key is a step into an object.
func Key(k string) Segment { return Segment{key: k, index: -1} }

// Index is a step into an array.
func Index(i int) Segment { return Segment{index: i} }

// Name is the key of a step into an object; false for a step into an array.
func (s Segment) Name() (key string, ok bool) { return s.key, s.index < 0 }

// String writes the path so that ParsePath reads it back.
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.index >= 0:
			fmt.Fprintf(&b, "[%d]", s.index)
		case !plainSegment(s.key):
			b.WriteString("[" + quote(s.key) + "]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.key)
		}
	}
	return b.String()
}

// shown is String for messages: a key pasted where a name belongs stays hidden.
func (p Path) shown() string {
	s := p.String()
	if len(s) < 16 {
		return s
	}
	return text.Ellipsis(secret.Shaped().ReplaceAllString(s, "…"), 256)
}

// Keys are the steps of a path that leads through no array.
func (p Path) Keys() []string {
	keys := make([]string, len(p))
	for i, s := range p {
		keys[i] = s.key
	}
	return keys
}

// In returns what stands at the path in a decoded JSON value.
func (p Path) In(v any) (any, bool) {
	for _, s := range p {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[s.key]
			if !ok || s.index >= 0 {
				return nil, false
			}
			v = next
		case []any:
			if s.index < 0 || s.index >= len(at) {
				return nil, false
			}
			v = at[s.index]
		default:
			return nil, false
		}
	}
	return v, true
}

func (p Path) child(s Segment) Path {
	return append(p[:len(p):len(p)], s)
}

func plainSegment(s string) bool {
	for _, r := range s {
		if r != '-' && r != '/' && r != ':' && r != '@' && !nameRune(r, false) {
			return false
		}
	}
	return s != ""
}

// PathError says what is wrong with a path that somebody typed.
type PathError struct{ Path, Reason string }

func (e *PathError) Error() string {
	return fmt.Sprintf("the path %s is not valid: %s; write it like gateway.port or models.providers[\"my.id\"].baseUrl", quote(e.Path),
		e.Reason)
}

// ParsePath reads the written form.
func ParsePath(s string) (Path, error) {
	bad := func(reason string) (Path, error) { return nil, &PathError{Path: text.Ellipsis(s, 80), Reason: reason} }
	if strings.TrimSpace(s) == "" {
		return bad("it is empty")
	}
	if len(s) > 4096 {
		return bad("it is too long")
	}
	if strings.IndexByte(s, 0) >= 0 {
		return bad("it holds a zero byte")
	}
	var p Path
	for rest := s; rest != ""; {
		if len(p) >= maxDepth {
			return bad("it is too deep")
		}
		var seg Segment
		var reason string
		if rest[0] == '[' {
			seg, rest, reason = bracketSegment(rest)
		} else {
			seg, rest, reason = dottedSegment(rest)
		}
		if reason != "" {
			return bad(reason)
		}
		p = append(p, seg)
		if rest != "" && rest[0] == '.' {
			if rest = rest[1:]; rest == "" || rest[0] == '[' {
				return bad("there is nothing after a dot")
			}
		} else if rest != "" && rest[0] != '[' {
			return bad("a dot or bracket is missing")
		}
	}
	return p, nil
}

func bracketSegment(s string) (seg Segment, rest, reason string) {
	if len(s) > 1 && (s[1] == '"' || s[1] == '\'') {
		p := &parser{src: s, pos: 1}
		key, err := p.str()
		if err != nil || p.pos >= len(s) || s[p.pos] != ']' {
			return seg, "", "a quoted key is not closed"
		}
		return Key(key), s[p.pos+1:], ""
	}
	num, rest, ok := strings.Cut(s[1:], "]")
	i, err := strconv.Atoi(num)
	if !ok || err != nil || i < 0 || num[0] == '+' {
		return seg, "", "brackets hold a number or a quoted key"
	}
	return Index(i), rest, ""
}

func dottedSegment(s string) (seg Segment, rest, reason string) {
	var b strings.Builder
	i := 0
	for ; i < len(s) && s[i] != '.' && s[i] != '['; i++ {
		if s[i] == '\\' {
			if i++; i == len(s) {
				return seg, "", "it ends with a backslash"
			}
		}
		b.WriteByte(s[i])
	}
	if b.Len() == 0 {
		return seg, "", "a name between dots is empty"
	}
	return Key(b.String()), s[i:], ""
}

// find returns the item at a path; ok is false when the file does not set it.
func (d *document) find(p Path) (n *node, ok bool) {
	n = d.root
	for _, s := range p {
		i := n.indexOf(s)
		if i < 0 || i >= len(n.items) {
			return nil, false
		}
		n = n.items[i].value
	}
	return n, true
}

// drop takes a value out of the tree, not out of the text.
func (d *document) drop(p Path) {
	if len(p) == 0 {
		d.root.items = nil
		return
	}
	parent, ok := d.find(p[:len(p)-1])
	if !ok {
		return
	}
	if i := parent.indexOf(p[len(p)-1]); i >= 0 && i < len(parent.items) {
		parent.items = slices.Delete(parent.items, i, i+1)
	}
}

// indexOf finds the item that a segment means, -1 when there is none. A name
// that is a number works as an index, so that models.0.id can be typed.
func (n *node) indexOf(s Segment) int {
	switch n.kind {
	case kindObject:
		if s.index >= 0 {
			s.key = strconv.Itoa(s.index)
		}
		for i := range n.items {
			if n.items[i].key == s.key {
				return i
			}
		}
	case kindArray:
		i := s.index
		if i < 0 {
			var err error
			if i, err = strconv.Atoi(s.key); err != nil || i < 0 {
				return -1
			}
		}
		if i < len(n.items) {
			return i
		}
	}
	return -1
}

// quote writes s as a JSON string.
func quote(s string) string { return string(appendString(nil, s)) }
