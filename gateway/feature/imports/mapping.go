package imports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/imports"
)

// What is taken of another program's settings says which models and accounts there
// are and how the assistant talks. What opens or protects something (addresses,
// tokens of the gateway, what tools may, who is the owner) is told and chosen here
// anew, and networks come in switched off.

// notTaken is one setting, or several of one kind.
type notTaken struct{ path, why string }

// mapped is what can be used.
type mapped struct {
	patch   map[string]any
	taken   []string // paths
	here    []string // are set here already, and stay
	left    []notTaken
	servers map[string]json.RawMessage // of MCP: they are items of their own
}

// rounds bounds how often something that does not fit is taken out.
const rounds = 200

// mapSettings reads settings. Of o it takes Sections and Env; set reports what is set here.
func mapSettings(t imports.Text, o config.Options, set func(path string) bool) (m mapped, err error) {
	var all map[string]any
	if err := json.Unmarshal([]byte(t.Raw), &all); err != nil {
		return m, fmt.Errorf("read the settings: %w", err)
	}
	m.takeServers(all)
	w := fitting{m: &m, env: t.Env, set: set, patch: map[string]any{}, found: func(name string) bool {
		_, ok := o.Env(name)
		return ok
	}}
	w.walk(nil, all)
	if list, ok := dig(all, "agents", "list").([]any); ok {
		w.agents(list)
	}
	if m.patch = w.patch; len(m.patch) == 0 {
		return m, nil
	}
	if channels, ok := m.patch["channels"].(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(channels)) {
			if c, ok := channels[name].(map[string]any); ok {
				c["enabled"] = false
			}
		}
	}
	return m, m.fit(o)
}

// takeServers takes out the MCP servers.
func (m *mapped) takeServers(all map[string]any) {
	list, ok := dig(all, "mcp", "servers").(map[string]any)
	if !ok {
		return
	}
	m.servers = map[string]json.RawMessage{}
	for id, s := range list {
		if raw, err := json.Marshal(s); err == nil {
			m.servers[id] = raw
		}
	}
	if mcp, ok := all["mcp"].(map[string]any); ok {
		if delete(mcp, "servers"); len(mcp) == 0 {
			delete(all, "mcp")
		}
	}
}

func dig(v any, keys ...string) any {
	for _, k := range keys {
		o, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = o[k]
	}
	return v
}

type fitting struct {
	m     *mapped
	env   map[string]string
	set   func(path string) bool
	found func(variable string) bool // here
	patch map[string]any
}

// walk looks at every value, and leaves what is not to be taken as one line for
// as much as the reason holds for.
func (w *fitting) walk(at []string, v any) {
	if len(at) == 2 && at[0] == "agents" && at[1] == "list" {
		return // looked at as a whole
	}
	if why, decided := judge(at); decided && why != "" {
		if !slices.Contains([]string{"meta", "wizard"}, at[0]) {
			w.m.left = append(w.m.left, notTaken{strings.Join(at, "."), why})
		}
		return
	}
	if o, ok := v.(map[string]any); ok && len(o) > 0 && !reference(o) {
		for _, k := range slices.Sorted(maps.Keys(o)) {
			w.walk(append(slices.Clone(at), k), o[k])
		}
		return
	}
	if len(at) == 0 {
		return
	}
	path := pathOf(at)
	if w.set(path) {
		w.m.here = append(w.m.here, path)
		return
	}
	value, why := w.spelled(v)
	if why != "" {
		w.m.left = append(w.m.left, notTaken{path, why})
		return
	}
	put(w.patch, at, value)
	w.m.taken = append(w.m.taken, path)
}

func put(into map[string]any, at []string, v any) {
	for _, k := range at[:len(at)-1] {
		next, ok := into[k].(map[string]any)
		if !ok {
			next = map[string]any{}
			into[k] = next
		}
		into = next
	}
	into[at[len(at)-1]] = v
}

func pathOf(at []string) string {
	p := make(config.Path, len(at))
	for i, k := range at {
		p[i] = config.Key(k)
	}
	return p.String()
}

// reference: an object that says where a secret is.
func reference(o map[string]any) bool { return o["source"] != nil }

// variable is how settings refer to one.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// spelled is a value with the variables that are set beside the settings put in. A
// secret that a program there would say is not taken: nothing of an import runs.
func (w *fitting) spelled(v any) (any, string) {
	switch v := v.(type) {
	case string:
		return variable.ReplaceAllStringFunc(v, func(s string) string {
			if value, ok := w.env[s[2:len(s)-1]]; ok {
				return value
			}
			return s
		}), ""
	case map[string]any:
		id, _ := v["id"].(string)
		switch {
		case v["source"] != "env":
			return nil, "the secret is kept by that program: enter it anew"
		case w.env[id] != "":
			return w.env[id], ""
		case !w.found(id):
			return nil, "the variable " + imports.Line(id, 60) + " is not set here"
		}
	}
	return v, ""
}

// agents takes who the assistants are: their names, not what they may.
func (w *fitting) agents(list []any) {
	if w.set("agents.list") {
		w.m.here = append(w.m.here, "agents.list")
		return
	}
	var out []any
	for _, a := range list {
		o, ok := a.(map[string]any)
		if !ok || o["id"] == nil {
			continue
		}
		kept := map[string]any{}
		for _, k := range []string{"id", "default", "name", "identity", "model"} {
			if v, ok := o[k]; ok {
				kept[k] = v
			}
		}
		out = append(out, kept)
	}
	if len(out) > 0 {
		put(w.patch, []string{"agents", "list"}, out)
		w.m.taken = append(w.m.taken, "agents.list")
		w.m.left = append(w.m.left, notTaken{"agents.list[]", "tools, folders and sandboxes of each assistant are set here anew"})
	}
}

// fit takes out what Hearth does not know or refuses.
func (m *mapped) fit(o config.Options) error {
	for range rounds {
		raw, err := json.Marshal(m.patch)
		if err != nil {
			return err
		}
		snap := config.Read(string(raw), config.Options{Sections: o.Sections, Env: o.Env})
		if snap.Valid && len(snap.Issues) == 0 {
			return m.unknown(snap.Warnings)
		}
		if len(snap.Issues) == 0 || !m.drop(snap.Issues[0].Path, snap.Issues[0].Message) {
			return errors.New("the settings could not be fitted to Hearth's")
		}
	}
	return errors.New("too many of the settings do not fit Hearth's")
}

// unknown takes out what nothing here reads.
func (m *mapped) unknown(warnings []config.Issue) error {
	for _, w := range warnings {
		if strings.Contains(w.Message, "not known") {
			m.drop(w.Path, "Hearth has no such setting")
		}
	}
	return nil
}

// drop takes a setting out, or the smallest one around it.
func (m *mapped) drop(path, why string) bool {
	p, err := config.ParsePath(path)
	if err != nil {
		return false
	}
	var keys []string
	for _, s := range p {
		name, ok := s.Name()
		if !ok {
			break // a place in a list: the list goes
		}
		keys = append(keys, name)
	}
	for n := len(keys); n > 0; n-- {
		if parent, ok := dig(m.patch, keys[:n-1]...).(map[string]any); ok {
			if _, there := parent[keys[n-1]]; there {
				delete(parent, keys[n-1])
				gone := pathOf(keys[:n])
				m.taken = slices.DeleteFunc(m.taken, func(t string) bool { return t == gone || strings.HasPrefix(t, gone+".") })
				m.left = append(m.left, notTaken{gone, cmp.Or(imports.Line(why, 200), "it does not fit")})
				return true
			}
		}
	}
	return false
}
