package config

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/secret"
)

// RedactedMarker stands for a secret wherever the file is shown. A file that
// holds it can be saved again: the stored secret of the same place is put back.
const RedactedMarker = secret.Marker

// ErrRedacted means that a text to be saved holds the marker at a place where
// no secret is stored; saving it would destroy something.
var ErrRedacted = errors.New("a hidden value cannot be saved")

// secretNodes calls found for every value that must be hidden: what a section says
// is a secret, and what is named or looks like one.
func (d *document) secretNodes(k *known, found func(p Path, n *node)) {
	shaped := secret.Shaped()
	var walk func(p Path, n *node, hide bool)
	walk = func(p Path, n *node, hide bool) {
		switch n.kind {
		case kindString:
			if n.text != "" && (hide && !envReference(n.text) && !storeReference(n.text) || shaped.MatchString(n.text)) {
				found(p, n)
			}
		case kindNumber:
			if hide {
				found(p, n)
			}
		case kindObject:
			hide = hide && !reference(n)
			for _, it := range n.items {
				at := p.child(Key(it.key))
				walk(at, it.value, hide || secret.Named(it.key) && k.tree.find(at) == nil || k.hides(at, it.value.text))
			}
		case kindArray:
			for i, it := range n.items {
				walk(p.child(Index(i)), it.value, hide)
			}
		}
	}
	walk(nil, d.root, false)
}

func (d *document) holdsSecrets(k *known) (found bool) {
	d.secretNodes(k, func(Path, *node) { found = true })
	return found
}

// envReference: ${NAME} names a secret without being one.
func envReference(s string) bool {
	return strings.HasPrefix(s, "${") && strings.HasSuffix(s, "}") && envName(s[2:len(s)-1])
}

// storeReference: keychain:NAME names one of Hearth's secrets.
func storeReference(s string) bool {
	_, ok := secret.KeychainRef(s)
	return ok
}

// reference: { source: … } says where a secret is found.
func reference(n *node) bool {
	i := n.indexOf(Key("source"))
	return i >= 0 && n.items[i].value.kind == kindString
}

// splice replaces a range of the text.
type splice struct {
	start, end int
	text       string
}

// apply makes replacements that do not overlap.
func apply(src string, edits []splice) string {
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].start < edits[j].start })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(src[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.WriteString(src[at:])
	return b.String()
}

// redacted returns the text with every secret replaced, in comments too:
// people comment out old keys.
func (d *document) redacted(k *known) string {
	var edits []splice
	d.secretNodes(k, func(_ Path, n *node) { edits = append(edits, splice{n.start, n.end, quote(RedactedMarker)}) })
	for _, c := range d.comments {
		old := d.src[c.start:c.end]
		if text := redactComment(old); text != old {
			edits = append(edits, splice{c.start, c.end, text})
		}
	}
	return apply(d.src, edits)
}

// redactComment hides, line by line, all that follows the name of a secret,
// and anything shaped like a key.
func redactComment(c string) string {
	assign, shaped := secret.Assigned(), secret.Shaped()
	lines := strings.SplitAfter(c, "\n")
	for i, l := range lines {
		body := strings.TrimRight(l, "\r\n")
		end := l[len(body):]
		if i == len(lines)-1 && strings.HasPrefix(c, "/*") {
			body, end = strings.TrimSuffix(body, "*/"), "*/"
		}
		if m := assign.FindStringIndex(body); m != nil && strings.TrimSpace(body[m[1]:]) != "" {
			body = body[:m[1]] + " " + RedactedMarker
		}
		lines[i] = shaped.ReplaceAllString(body, RedactedMarker) + end
	}
	return strings.Join(lines, "")
}

// restore puts the secrets of the stored file back into a text that was shown
// with markers. It refuses when it cannot tell which secret belongs where.
func restore(next, stored *document) (string, error) {
	if !strings.Contains(next.src, RedactedMarker) {
		return next.src, nil
	}
	var edits []splice
	err := next.markers(func(p Path, n *node) error {
		line, col := position(next.src, n.start)
		if n.text != RedactedMarker {
			return fmt.Errorf("line %d, column %d (%s): %w: %s is only part of this text; write the value itself", line, col, p, ErrRedacted,
				RedactedMarker)
		}
		old := stored.counterpart(next, p)
		if old == nil {
			return fmt.Errorf("line %d, column %d (%s): %w: there is no stored value at this place; write the value itself", line, col, p,
				ErrRedacted)
		}
		edits = append(edits, splice{n.start, n.end, stored.src[old.start:old.end]})
		return nil
	})
	if err != nil {
		return "", err
	}
	more, err := restoreComments(next, stored)
	if err != nil {
		return "", err
	}
	return apply(next.src, append(edits, more...)), nil
}

// markers visits every text that holds the marker; in a key it is an error.
func (d *document) markers(visit func(Path, *node) error) error {
	var walk func(p Path, n *node) error
	walk = func(p Path, n *node) error {
		if n.kind == kindString && strings.Contains(n.text, RedactedMarker) {
			return visit(p, n)
		}
		for i, it := range n.items {
			seg := Index(i)
			if n.kind == kindObject {
				seg = Key(it.key)
				if strings.Contains(it.key, RedactedMarker) {
					line, col := position(d.src, it.keyStart)
					return fmt.Errorf("line %d, column %d: %w: %s is not a key", line, col, ErrRedacted, RedactedMarker)
				}
			}
			if err := walk(p.child(seg), it.value); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(nil, d.root)
}

// counterpart finds the stored secret for a path of next. An element of a list
// is found by its id or name; by its index only while the list kept its length.
func (d *document) counterpart(next *document, p Path) *node {
	old, cur := d.root, next.root
	for _, s := range p {
		i, j := old.indexOf(s), cur.indexOf(s)
		if j < 0 {
			return nil
		}
		if cur.kind == kindArray {
			if old.kind != kindArray {
				return nil
			}
			if id := identity(cur.items[j].value); id != "" {
				i = -1
				for k := range old.items {
					if identity(old.items[k].value) == id {
						i = k
					}
				}
			} else if len(old.items) != len(cur.items) {
				return nil
			}
		}
		if i < 0 {
			return nil
		}
		old, cur = old.items[i].value, cur.items[j].value
	}
	if old.kind != kindString && old.kind != kindNumber || strings.Contains(old.text, RedactedMarker) {
		return nil
	}
	return old
}

func identity(n *node) string {
	for _, key := range []string{"id", "name"} {
		if i := n.indexOf(Key(key)); n.kind == kindObject && i >= 0 && n.items[i].value.kind == kindString {
			return key + "=" + n.items[i].value.text
		}
	}
	return ""
}

// restoreComments puts back comments that were shown with markers, by their
// whole text and in order.
func restoreComments(next, stored *document) ([]splice, error) {
	originals := map[string][]string{}
	for _, c := range stored.comments {
		old := stored.src[c.start:c.end]
		if shown := redactComment(old); shown != old {
			originals[shown] = append(originals[shown], old)
		}
	}
	var edits []splice
	for _, c := range next.comments {
		text := next.src[c.start:c.end]
		if !strings.Contains(text, RedactedMarker) {
			continue
		}
		olds := originals[text]
		if len(olds) == 0 {
			line, col := position(next.src, c.start)
			return nil, fmt.Errorf("line %d, column %d: %w: this comment hides a value and was changed; leave it as it was or remove it", line, col,
				ErrRedacted)
		}
		edits = append(edits, splice{c.start, c.end, olds[0]})
		if len(olds) > 1 {
			originals[text] = olds[1:]
		}
	}
	return edits, nil
}
