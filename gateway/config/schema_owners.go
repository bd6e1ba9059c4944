package config

import (
	"slices"
	"strconv"
	"strings"
)

// senders reads a list of ids, which people also write as numbers. The list is
// never nil: an empty one lets nobody in.
func (d *decoder) senders(n *node) []string {
	out := []string{}
	d.list(n, func(v *node) {
		if v.kind == kindNumber {
			if _, err := strconv.ParseInt(v.text, 10, 64); err != nil {
				d.issue(v.start, "an id is a whole number")
				return
			}
			out = append(out, v.text)
			return
		}
		if s := strings.TrimSpace(d.filled(v, 256)); s != "" {
			out = append(out, s)
		}
	})
	return out
}

// owners are senders who may use the owner's commands; "*" would be everybody.
func (d *decoder) owners(n *node) []string {
	list := d.senders(n)
	if slices.ContainsFunc(list, func(s string) bool { return s == "*" || strings.HasSuffix(s, ":*") }) {
		d.warn(n.start, "\"*\" makes nobody the owner: name each one, for example \"%s:123456789\"", d.exampleNetwork())
	}
	return list
}

// exampleNetwork stands in advice.
func (d *decoder) exampleNetwork() string { return "NETWORK" }
