package config

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// standard returns the document as standard JSON, without comments.
func (d *document) standard() []byte { return appendJSON(nil, d.root) }

// Standard is a text of settings as standard JSON, secrets included: whoever asks
// for it keeps it to themselves.
func Standard(raw string) (json.RawMessage, error) {
	doc, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	return doc.standard(), nil
}

// appendJSON writes a value in one line of standard JSON.
func appendJSON(dst []byte, n *node) []byte {
	switch n.kind {
	case kindNull:
		return append(dst, "null"...)
	case kindBool, kindNumber:
		return append(dst, n.text...)
	case kindString:
		return appendString(dst, n.text)
	}
	opening, closing := byte('{'), byte('}')
	if n.kind == kindArray {
		opening, closing = '[', ']'
	}
	dst = append(dst, opening)
	for i, it := range n.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.kind == kindObject {
			dst = append(appendString(dst, it.key), ':')
		}
		dst = appendJSON(dst, it.value)
	}
	return append(dst, closing)
}

func appendString(dst []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r < 0x20 || r == 0x7f || r == '\u2028' || r == '\u2029':
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// style is how a file is written; what we insert is written the same way.
type style struct {
	newline    string
	unit       string // one step of indentation
	quotedKeys bool
	strict     bool // standard JSON so far: add no trailing comma
}

func (d *document) style() style {
	s := style{newline: "\n", unit: "  "}
	if i := strings.IndexByte(d.src, '\n'); i > 0 && d.src[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if len(d.root.items) > 0 {
		it := d.root.items[0]
		s.quotedKeys = it.keyEnd > it.keyStart && (d.src[it.keyStart] == '"' || d.src[it.keyStart] == '\'')
		if ind, own := d.indentOf(it.keyStart); own && ind != "" {
			s.unit = ind
		}
		last := d.root.items[len(d.root.items)-1]
		s.strict = s.quotedKeys && last.comma < 0
	}
	return s
}

// indentOf returns the white space at the start of the line of at, and whether
// nothing else stands between it and at.
func (d *document) indentOf(at int) (indent string, own bool) {
	start := strings.LastIndexAny(d.src[:at], "\n\r") + 1
	line := strings.TrimPrefix(d.src[start:at], bom)
	indent = line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return indent, len(indent) == len(line)
}

func (s style) key(k string) string {
	if s.quotedKeys || !bareName(k) {
		return quote(k)
	}
	return k
}

// render writes a value over several lines where that reads better.
func (s style) render(n *node, indent string) string {
	if len(n.items) == 0 || n.kind == kindArray && short(n) {
		return s.inline(n)
	}
	var b strings.Builder
	opening, closing := "{", "}"
	if n.kind == kindArray {
		opening, closing = "[", "]"
	}
	b.WriteString(opening)
	inner := indent + s.unit
	for i, it := range n.items {
		b.WriteString(s.newline + inner)
		if n.kind == kindObject {
			b.WriteString(s.key(it.key) + ": ")
		}
		b.WriteString(s.render(it.value, inner))
		if i < len(n.items)-1 || !s.strict {
			b.WriteByte(',')
		}
	}
	b.WriteString(s.newline + indent + closing)
	return b.String()
}

func (s style) inline(n *node) string {
	if n.kind != kindArray && n.kind != kindObject {
		return string(appendJSON(nil, n))
	}
	parts := make([]string, len(n.items))
	for i, it := range n.items {
		parts[i] = s.inline(it.value)
		if n.kind == kindObject {
			parts[i] = s.key(it.key) + ": " + parts[i]
		}
	}
	body := strings.Join(parts, ", ")
	switch {
	case n.kind == kindArray:
		return "[" + body + "]"
	case body == "":
		return "{}"
	}
	return "{ " + body + " }"
}

// short says whether a list fits on a line: plain values, 80 characters.
func short(n *node) bool {
	total := 0
	for _, it := range n.items {
		if it.value.kind == kindArray || it.value.kind == kindObject {
			return false
		}
		total += len(it.value.text) + 4
	}
	return total <= 80
}
