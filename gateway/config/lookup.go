package config

import (
	"slices"
	"strings"
)

// Found is one place of the settings, for clients that look at it alone.
type Found struct {
	Described
	At       string // the place with * for a name that people choose
	Children []Found
}

// Sections are those that the file is read by.
func (f *File) Sections() Sections { return f.opts.Sections }

// AnyName is the path with * in the place of names that people choose.
func (d Described) AnyName() string {
	parts := strings.Split(d.Path, ".")
	for i, p := range parts {
		if strings.HasPrefix(p, "<") {
			parts[i] = "*" + p[strings.IndexByte(p, '>')+1:]
		}
	}
	return strings.Join(parts, ".")
}

// Lookup finds a place: "gateway.port", "mcp.servers.github.url", with * for any
// name and [] for any entry of a list; "." is all of the settings. ok is false
// when nothing is known of it.
func (l Sections) Lookup(path string) (found Found, ok bool) {
	known := map[string]Described{}
	for _, d := range l.Describe() {
		known[d.AnyName()] = d
	}
	root := l.Schema()
	at, node, ok := root.walk(path)
	if !ok {
		return Found{}, false
	}
	found = foundAt(known, at, node)
	var kids []string
	for key := range node.Properties {
		kids = append(kids, key)
	}
	slices.Sort(kids)
	for _, key := range kids {
		found.Children = append(found.Children, foundAt(known, strings.TrimPrefix(at+"."+key, "."), node.Properties[key]))
	}
	if node.Additional != nil {
		found.Children = append(found.Children, foundAt(known, at+".*", node.Additional))
	}
	if node.Items != nil && len(node.Items.Properties) > 0 {
		found.Children = append(found.Children, foundAt(known, at+"[]", node.Items))
	}
	return found, true
}

func foundAt(known map[string]Described, at string, node *Schema) Found {
	d, described := known[at]
	if !described {
		d = Described{Path: at, Label: node.Title, Schema: Schema{Type: node.Type, Title: node.Title}}
	}
	d.Schema.Title, d.Schema.Description = d.Label, d.Help
	d.Children = len(node.Properties)
	if node.Additional != nil || node.Items != nil && len(node.Items.Properties) > 0 {
		d.Children++
	}
	return Found{Described: d, At: at}
}

// walk follows a path that somebody typed, and returns it with * for names.
func (s *Schema) walk(path string) (at string, node *Schema, ok bool) {
	if path == "." {
		return "", s, true
	}
	p, err := ParsePath(strings.NewReplacer("[]", "[0]", "[*]", "[0]", ".*", "._").Replace(path))
	if err != nil {
		return "", nil, false
	}
	for _, step := range p {
		switch {
		case step.index >= 0:
			at, s = at+"[]", s.Items
		case s.Properties[step.key] != nil:
			at, s = at+"."+step.key, s.Properties[step.key]
		default:
			at, s = at+".*", s.Additional
		}
		if s == nil {
			return "", nil, false
		}
	}
	return strings.TrimPrefix(at, "."), s, true
}
