package config

import (
	"errors"
	"fmt"
	"strings"
)

// op is one change of the text: set a value or, with a nil value, remove it.
type op struct {
	path  Path
	value *node
}

// edited applies ops one after the other and leaves everything else in the
// text as it was.
func edited(src string, ops []op) (string, error) {
	if len(ops) > 10_000 || len(ops)*len(src) > 1<<29 {
		return "", errors.New("too many changes at once; save them in smaller parts")
	}
	for _, o := range ops {
		doc, err := parseObject(src)
		if err != nil {
			return "", err
		}
		if o.value == nil {
			src = doc.remove(o.path)
			continue
		}
		if src, err = doc.set(o.path, o.value); err != nil {
			return "", err
		}
	}
	return src, nil
}

// set puts a value at a path; missing objects on the way are made.
func (d *document) set(p Path, v *node) (string, error) {
	if len(p) == 0 {
		return "", errors.New("the path is empty")
	}
	parent := d.root
	for i, s := range p {
		at := parent.indexOf(s)
		if at < 0 {
			return d.insert(parent, p, i, v)
		}
		parent = parent.items[at].value
	}
	if same(parent, v) {
		return d.src, nil
	}
	indent, _ := d.indentOf(parent.start)
	text := d.style().render(v, indent)
	return apply(d.src, []splice{{parent.start, parent.end, text}}), nil
}

// insert adds p[i:] below parent, which holds p[:i].
func (d *document) insert(parent *node, p Path, i int, v *node) (string, error) {
	seg := p[i]
	for j := len(p) - 1; j > i; j-- {
		if p[j].index >= 0 {
			if p[j].index > 0 {
				return "", &PathError{p.String(), "the list before [" + fmt.Sprint(p[j].index) + "] is shorter"}
			}
			v = &node{kind: kindArray, items: []item{{value: v}}}
			continue
		}
		v = &node{kind: kindObject, items: []item{{key: p[j].key, value: v}}}
	}
	switch {
	case parent.kind == kindObject && seg.index < 0:
		return d.appendItem(parent, seg.key, v), nil
	case parent.kind == kindArray && (seg.index == len(parent.items) || seg.key == "-" || seg.key == fmt.Sprint(len(parent.items))):
		return d.appendItem(parent, "", v), nil
	case parent.kind == kindArray:
		return "", &PathError{p.String(), fmt.Sprintf("%s is a list of %d; use [0] to [%d], the last adds one", p[:i], len(parent.items),
			len(parent.items))}
	}
	return "", &PathError{p.String(), fmt.Sprintf("%s holds %s, so nothing can be set below it", p[:i], parent.kind)}
}

// appendItem adds a member or element at the end of a container.
func (d *document) appendItem(c *node, key string, v *node) string {
	st := d.style()
	inner := d.src[c.start+1 : c.end-1]
	lineIndent, _ := d.indentOf(c.start)
	multi := strings.ContainsAny(inner, "\n\r") || len(c.items) == 0 && c.kind == kindObject
	indent := lineIndent + st.unit
	label := ""
	if len(c.items) > 0 {
		if ind, own := d.indentOf(c.items[len(c.items)-1].keyStart); own {
			indent = ind
		}
		first := c.items[0].keyStart
		st.quotedKeys = c.kind == kindObject && (d.src[first] == '"' || d.src[first] == '\'')
	}
	if c.kind == kindObject {
		label = st.key(key) + ": "
	}
	if !multi {
		return d.appendInline(c, label+st.inline(v))
	}
	var edits []splice
	at, trailing := c.start+1, !st.strict
	if n := len(c.items); n > 0 {
		last := c.items[n-1]
		at = last.value.end
		if trailing = last.comma >= 0; trailing {
			at = last.comma + 1
		} else {
			edits = append(edits, splice{at, at, ","})
		}
		at = d.sameLineTrivia(at, c.end-1)
	} else {
		at = d.lastComment(at, c.end-1)
	}
	text := st.newline + indent + label + st.render(v, indent)
	if trailing {
		text += ","
	}
	if !strings.ContainsAny(d.src[at:c.end-1], "\n\r") {
		return apply(d.src, append(edits, splice{at, c.end - 1, text + st.newline + lineIndent}))
	}
	return apply(d.src, append(edits, splice{at, at, text}))
}

func (d *document) appendInline(c *node, text string) string {
	if len(c.items) == 0 {
		at := d.lastComment(c.start+1, c.end-1)
		return apply(d.src, []splice{{at, at, text}})
	}
	last := c.items[len(c.items)-1]
	if last.comma >= 0 {
		return apply(d.src, []splice{{last.comma + 1, last.comma + 1, " " + text}})
	}
	return apply(d.src, []splice{{last.value.end, last.value.end, ", " + text}})
}

// sameLineTrivia steps over spaces and comments that stay on the line.
func (d *document) sameLineTrivia(at, end int) int {
	for _, c := range d.comments {
		if c.start < at || c.start >= end || strings.Trim(d.src[at:c.start], " \t") != "" {
			continue
		}
		if strings.ContainsAny(d.src[c.start:c.end], "\n\r") {
			break
		}
		at = c.end
	}
	return at
}

// lastComment is the end of the last comment between two offsets.
func (d *document) lastComment(from, to int) int {
	for _, c := range d.comments {
		if c.start >= from && c.end <= to {
			from = max(from, c.end)
		}
	}
	return from
}

// remove takes out the value at a path, with its own line and the comment
// behind it on that line. Removing what is not there changes nothing.
func (d *document) remove(p Path) string {
	if len(p) == 0 {
		return d.src
	}
	parent, ok := d.find(p[:len(p)-1])
	if !ok {
		return d.src
	}
	i := parent.indexOf(p[len(p)-1])
	if i < 0 {
		return d.src
	}
	it := parent.items[i]
	start, end := it.keyStart, it.value.end
	var edits []splice
	if it.comma >= 0 {
		end = it.comma + 1
	} else if i > 0 {
		c := parent.items[i-1].comma
		edits = append(edits, splice{c, c + 1, ""})
	}
	nextOnLine := i+1 < len(parent.items) && !strings.ContainsAny(d.src[end:parent.items[i+1].keyStart], "\n\r")
	if indent, own := d.indentOf(start); own && !nextOnLine {
		tail := d.sameLineTrivia(end, parent.end-1)
		tail += len(d.src[tail:]) - len(strings.TrimLeft(d.src[tail:], " \t"))
		if nl := newlineAt(d.src, tail); nl > 0 {
			return apply(d.src, append(edits, splice{start - len(indent), tail + nl, ""}))
		}
	}
	if nextOnLine {
		end = parent.items[i+1].keyStart
		if it.comma >= 0 && d.lastComment(it.comma, end) > it.comma+1 {
			end = it.comma + 1 // a comment there belongs to the next
		}
	} else if i > 0 && it.comma < 0 {
		start = parent.items[i-1].comma + 1
		if s := d.lastComment(start, it.keyStart); s > start {
			start = it.keyStart
		}
	}
	return apply(d.src, append(edits, splice{start, end, ""}))
}

// newlineAt is the length of the line end at an offset, 0 when there is none.
func newlineAt(src string, at int) int {
	switch {
	case strings.HasPrefix(src[at:], "\r\n"):
		return 2
	case strings.HasPrefix(src[at:], "\n"), strings.HasPrefix(src[at:], "\r"):
		return 1
	}
	return 0
}

// same compares two values, not their spelling.
func same(a, b *node) bool { return string(appendJSON(nil, a)) == string(appendJSON(nil, b)) }

// mergeOps turns a JSON merge patch (RFC 7396) into single changes.
func mergeOps(target, patch *node, at Path) (ops []op) {
	for _, it := range patch.items {
		p := at.child(Key(it.key))
		var old *node
		if i := target.indexOf(Key(it.key)); target.kind == kindObject && i >= 0 {
			old = target.items[i].value
		}
		switch {
		case it.value.kind == kindNull:
			if old != nil {
				ops = append(ops, op{p, nil})
			}
		case it.value.kind == kindObject && old != nil && old.kind == kindObject:
			ops = append(ops, mergeOps(old, it.value, p)...)
		default:
			ops = append(ops, op{p, withoutNulls(it.value)})
		}
	}
	return ops
}

// withoutNulls: inside a new object of a merge patch, null means "not there".
func withoutNulls(n *node) *node {
	if n.kind != kindObject {
		return n
	}
	out := &node{kind: kindObject}
	for _, it := range n.items {
		if it.value.kind != kindNull {
			out.items = append(out.items, item{key: it.key, value: withoutNulls(it.value)})
		}
	}
	return out
}
