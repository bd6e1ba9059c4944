// Package pretty lays JSON that strangers made out for reading. Indenting
// multiplies what is nested: 19 KB of brackets become 186 MB of spaces.
package pretty

import (
	"bytes"
	"encoding/json"
)

// MaxDepth is how deep the arguments of a tool may nest. No tool that is meant
// for anybody needs more, and whatever walks them has to go as deep.
const MaxDepth = 64

// JSON is raw with an item a line, or raw as it is when it is no JSON or would
// become longer than limit.
func JSON(raw []byte, indent string, limit int) []byte {
	if size, ok := laidOut(raw, len(indent)); !ok || size > limit {
		return raw
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", indent) != nil {
		return raw
	}
	return b.Bytes()
}

// Depth is how deep arrays and objects nest in raw; a plain value has 0. Of what
// is no JSON it is what the brackets say.
func Depth(raw []byte) int {
	depth, deepest := 0, 0
	each(raw, func(c byte) {
		switch c {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth--
		}
	})
	return deepest
}

// laidOut is at least how long raw becomes with an item a line; ok is false when
// its brackets do not fit.
func laidOut(raw []byte, indent int) (size int, ok bool) {
	size = len(raw)
	depth := 0
	each(raw, func(c byte) {
		switch c {
		case '[', '{':
			depth++
			size += 1 + depth*indent
		case ',':
			size += 1 + depth*indent
		case ']', '}':
			depth--
			size += 1 + max(depth, 0)*indent
		case ':':
			size++
		}
	})
	return size, depth == 0
}

// each tells the bytes outside of strings.
func each(raw []byte, tell func(c byte)) {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			tell(raw[i])
			continue
		}
		for i++; i < len(raw) && raw[i] != '"'; i++ {
			if raw[i] == '\\' {
				i++
			}
		}
	}
}
