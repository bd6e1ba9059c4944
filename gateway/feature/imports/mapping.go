package imports

import (
	"encoding/json"
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

// mapSettings reads settings. Of o it takes Sections and Env.
func mapSettings(t imports.Text, o config.Options, here settled) (m mapped, err error) {
	var all map[string]any
	if err := json.Unmarshal([]byte(t.Raw), &all); err != nil {
		return m, fmt.Errorf("read the settings: %w", err)
	}
	m.takeServers(all)
	w := fitting{m: &m, env: t.Env, here: here, patch: map[string]any{}, found: func(name string) bool {
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
	err = m.fit(o)
	if here.connected() {
		m.leaveTalk()
	}
	return m, err
}

// leaveTalk takes out how the assistant talks and keeps conversations apart: where
// networks are connected already, whoever writes there would find it changed.
func (m *mapped) leaveTalk() {
	for _, path := range slices.Clone(m.taken) {
		if strings.HasPrefix(path, "session") || strings.HasPrefix(path, "messages") {
			m.gone(path, unasked)
		}
	}
	delete(m.patch, "session")
	delete(m.patch, "messages")
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
	here  settled
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
		switch {
		case slices.Contains([]string{"meta", "wizard", "env"}, at[0]): // nobody wrote them, or they are no settings
		case why == openDoor && v != "open":
			w.m.left = append(w.m.left, notTaken{pathOf(at), guards})
		default:
			w.m.left = append(w.m.left, notTaken{pathOf(at), why})
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
	if w.here.has(at) {
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
