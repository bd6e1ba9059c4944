package skill

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of what stands before the text of a skill. An alias is a way to make
// a short text long, and nothing needs one.
const (
	maxDepth = 16
	maxNodes = 4096
)

// tree is a mapping of a front matter that was checked.
type tree struct{ n *yaml.Node }

// readTree reads YAML. Nothing of it is expanded: it stays the nodes that were
// written.
func readTree(src []byte) (tree, error) {
	n, err := parseYAML(src)
	if err != nil {
		// Many skills hold a colon in a description without quotes.
		if quoted, ok := quoteLines(string(src)); ok {
			if again, qerr := parseYAML([]byte(quoted)); qerr == nil {
				n, err = again, nil
			}
		}
	}
	if err != nil {
		return tree{}, err
	}
	if n.Kind != yaml.MappingNode {
		return tree{}, invalid("what stands between the lines of dashes is not a list of names and values")
	}
	return tree{n}, nil
}

func parseYAML(src []byte) (*yaml.Node, error) {
	if deep(src) {
		return nil, invalid("its values are nested too deeply")
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, invalid("%s", clean(strings.TrimPrefix(err.Error(), "yaml: "), 200))
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, invalid("what stands between the lines of dashes is empty")
	}
	left := maxNodes
	if err := check(doc.Content[0], 0, &left); err != nil {
		return nil, err
	}
	return doc.Content[0], nil
}

// deep reports brackets that are nested without end, before a parser sees them.
func deep(src []byte) bool {
	open := 0
	for _, c := range src {
		switch c {
		case '[', '{':
			if open++; open > 200 {
				return true
			}
		case ']', '}':
			open = max(open-1, 0)
		}
	}
	return false
}

func check(n *yaml.Node, depth int, left *int) error {
	*left--
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return invalid("it holds a YAML anchor or alias (& or *), which Hearth does not follow; write the value out, in quotes if need be")
	case depth > maxDepth:
		return invalid("its values are nested too deeply")
	case *left < 0:
		return invalid("it holds more than %d values", maxNodes)
	}
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i].Value
			if seen[k] {
				return invalid("it says %q twice", clean(k, maxName))
			}
			seen[k] = true
		}
	}
	for _, c := range n.Content {
		if err := check(c, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}

// quoteLines puts the plain values of the outermost names in quotes.
func quoteLines(src string) (out string, ok bool) {
	lines := strings.Split(src, "\n")
	for i, l := range lines {
		name, value, found := strings.Cut(l, ":")
		value = strings.TrimSpace(value)
		if !found || value == "" || strings.ContainsAny(name, " \t\"'#{[") || strings.ContainsRune("\"'[{|>&*!%@`", rune(value[0])) {
			continue
		}
		q, err := json.Marshal(value)
		if err != nil {
			continue
		}
		lines[i], ok = name+": "+string(q), true
	}
	return strings.Join(lines, "\n"), ok
}

func (t tree) get(name string) *yaml.Node {
	if t.n == nil || t.n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(t.n.Content); i += 2 {
		if t.n.Content[i].Value == name {
			return t.n.Content[i+1]
		}
	}
	return nil
}

func (t tree) text(name string) string {
	if n := t.get(name); n != nil && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return n.Value
	}
	return ""
}

func (t tree) flag(name string, otherwise bool) bool {
	switch strings.ToLower(t.text(name)) {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0":
		return false
	}
	return otherwise
}

// list is a list of texts, or one text alone.
func (t tree) list(name string) (out []string) {
	n := t.get(name)
	switch {
	case n == nil:
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		out = append(out, n.Value)
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			if c.Kind == yaml.ScalarNode {
				out = append(out, c.Value)
			}
		}
	}
	return out
}

func (t tree) sub(name string) tree { return tree{t.get(name)} }

func (t tree) each(name string) (out []tree) {
	if n := t.get(name); n != nil && n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			out = append(out, tree{c})
		}
	}
	return out
}

// metadata is our part of the metadata, which may be written as values or as
// a text of JSON.
func (t tree) metadata() (tree, error) {
	all := t.sub("metadata")
	if raw := t.text("metadata"); strings.HasPrefix(strings.TrimSpace(raw), "{") {
		n, err := parseYAML([]byte(raw))
		if err != nil {
			return tree{}, err
		}
		all = tree{n}
	}
	for _, k := range metaKeys {
		if m := all.sub(k); m.n != nil && m.n.Kind == yaml.MappingNode {
			return m, nil
		}
	}
	return tree{}, nil
}
