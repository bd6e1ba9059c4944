package config

import (
	"slices"
	"strings"
)

// told is what is said of issues. Who patched single values (patch is not nil) wrote no
// file: what is new is told without its place there, and with its key only where they
// wrote several, or a list whose entries have keys of their own.
func (s *Snapshot) told(old *Snapshot, patch *node) []Issue {
	if patch == nil {
		return s.Issues
	}
	fresh := unknown(s.Issues, old.Issues)
	if len(fresh) == 0 { // the environment changed: only the place says where
		return s.Issues
	}
	return placeless(fresh, patch)
}

// doubts are the doubts about what a patch wrote.
func (s *Snapshot) doubts(old *Snapshot, patch *node) []Issue {
	if patch == nil {
		return nil
	}
	fresh := slices.DeleteFunc(slices.Clone(s.doubtful), func(w Issue) bool {
		return s.textAt(w.Path) == old.textAt(w.Path)
	})
	return placeless(fresh, patch)
}

func unknown(issues, old []Issue) []Issue {
	return slices.DeleteFunc(slices.Clone(issues), func(i Issue) bool {
		return slices.ContainsFunc(old, func(o Issue) bool { return o.Path == i.Path && o.Message == i.Message })
	})
}

func placeless(issues []Issue, patch *node) []Issue {
	several, list := patch.leaves() > 1, patch.list(nil)
	out := make([]Issue, len(issues))
	for i, is := range issues {
		out[i] = Issue{Path: is.Path, Message: is.Message}
		if inside := list != "" && strings.HasPrefix(is.Path, list+"["); inside || several && is.Path != "" {
			out[i].Message = is.Path + ": " + is.Message
		}
	}
	return out
}

// list is where a patch of one value writes a list of objects, "" where it writes
// something else.
func (n *node) list(at Path) string {
	switch {
	case n.kind == kindArray && slices.ContainsFunc(n.items, func(it item) bool { return it.value.kind == kindObject }):
		return at.shown()
	case n.kind == kindObject && len(n.items) == 1:
		return n.items[0].value.list(append(at, Key(n.items[0].key)))
	}
	return ""
}

// leaves counts the values that are no objects.
func (n *node) leaves() int {
	if n.kind != kindObject {
		return 1
	}
	count := 0
	for _, it := range n.items {
		count += it.value.leaves()
	}
	return count
}
