package codemode

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/model"
)

// Where a tool comes from.
const (
	SourceHearth = "hearth"
	SourceMCP    = "mcp"
	SourceClient = "client"
)

// Origin says where a tool comes from.
type Origin struct {
	Source string // one of those above
	Owner  string // core, or the server or program
	Name   string // what its owner calls it
	// Verbatim: what it says is text even where it looks like JSON: a file's
	// content, what a command printed.
	Verbatim bool
}

// Entry is a tool as a program sees it in ALL_TOOLS.
type Entry struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Source      string `json:"source"`
	SourceName  string `json:"sourceName,omitempty"`
}

// Described is an entry with its schema.
type Described struct {
	Entry
	Parameters json.RawMessage `json:"parameters"`
	Returns    string          `json:"returns"`
}

// listed is a tool of the catalogue.
type listed struct {
	Entry
	spec     model.ToolSpec
	verbatim bool
	words    []string       // of its name
	about    map[string]int // words of its description, and what they weigh
}

// catalog is what the programs of one run can call. It does not change.
type catalog struct {
	list  []*listed
	byID  map[string]*listed
	names map[string]string // unambiguous name → id
	image engine.Catalog
	tele  CatalogSize
}

// maxSummary is the most of a description in ALL_TOOLS, in bytes.
const maxSummary = 200

// control are the names that no program may call: what runs programs, and what
// other ways of hiding tools use.
func control() []string {
	return []string{Wait, "tool_search_code", "tool_search", "tool_describe", "tool_call"}
}

// newCatalog makes the catalogue of a run's tools.
func newCatalog(specs []model.ToolSpec, origin func(name string) Origin) (*catalog, error) {
	c := &catalog{byID: map[string]*listed{}, tele: CatalogSize{Sources: map[string]int{}}}
	for _, spec := range specs {
		o := origin(spec.Name)
		if o.Source == SourceHearth && slices.Contains(control(), spec.Name) {
			continue
		}
		l := &listed{spec: spec, verbatim: o.Verbatim, Entry: Entry{
			ID: strings.Join([]string{o.Source, o.Owner, o.Name}, ":"), Name: o.Name, Source: o.Source, Description: summary(spec.Description),
		}}
		if o.Source != SourceHearth {
			l.SourceName = o.Owner
		}
		l.words = tokens(o.Owner + " " + o.Name)
		l.about = aboutWords(spec.Description)
		c.list = append(c.list, l)
	}
	slices.SortFunc(c.list, func(a, b *listed) int { return strings.Compare(a.ID, b.ID) })
	c.list = slices.CompactFunc(c.list, func(a, b *listed) bool { return a.ID == b.ID })
	entries := make([]Entry, len(c.list))
	for i, l := range c.list {
		c.byID[l.ID], entries[i] = l, l.Entry
		c.tele.Sources[l.Source]++
	}
	c.tele.Size = len(c.list)
	c.names = shortcuts(c.list)
	all, err := json.Marshal(entries)
	if err != nil {
		return nil, err
	}
	c.image = engine.Catalog{Tools: all, Shortcuts: c.names}
	return c, nil
}

// shortcuts are the safe names that mean exactly one tool. None stands in the
// place of a function that programs count on.
func shortcuts(list []*listed) map[string]string {
	out, taken := map[string]string{}, map[string]bool{}
	for _, name := range []string{"search", "describe", "call", "then", "constructor", "prototype", "__proto__", "toString", "valueOf",
		"toJSON", "hasOwnProperty"} {
		taken[name] = true
	}
	for _, l := range list {
		for _, name := range slices.Compact([]string{safeName(l.Name), safeName(l.spec.Name)}) {
			if other, ok := out[name]; ok && other != l.ID {
				delete(out, name)
				taken[name] = true
			}
			if !taken[name] {
				out[name] = l.ID
			}
		}
	}
	return out
}

// safeName is a name as a property that needs no brackets.
func safeName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "_" + s
	}
	return s
}

// find is the tool that a program means: an id, one under a name that programs
// for others use, or a name that means one tool.
func (c *catalog) find(id string) *listed {
	for _, alias := range []string{"nodmix:", "openclaw:"} {
		if rest, ok := strings.CutPrefix(id, alias); ok {
			id = SourceHearth + ":" + rest
		}
	}
	if l := c.byID[id]; l != nil {
		return l
	}
	return c.byID[c.names[id]]
}

func (l *listed) described() Described {
	d := Described{Entry: l.Entry, Parameters: l.spec.Schema, Returns: "a parsed value where it answers with JSON, else text"}
	d.Description = l.spec.Description
	if l.verbatim {
		d.Returns = "text"
	}
	return d
}

func summary(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > maxSummary {
		s = strings.ToValidUTF8(s[:maxSummary], "") + "…"
	}
	return s
}
