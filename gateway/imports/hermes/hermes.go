// Package hermes reads the folder of a Hermes installation (~/.hermes): sessions
// (state.db), what it remembers and who it is, skills, jobs, MCP servers and keys.
package hermes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/imports/source"
)

const maxSettings = 4 << 20

// Fits reports whether a folder looks like one of Hermes.
func Fits(t *source.Tree) bool {
	return t.Has("state.db") || t.Has("config.yaml") && (t.Has("SOUL.md") || t.Has("memories/MEMORY.md") || t.Has(".env"))
}

type home struct {
	t    *source.Tree
	give imports.Give
}

// Read hands over everything, the chats last.
func Read(ctx context.Context, t *source.Tree, give imports.Give) error {
	h := home{t, give}
	for _, step := range []func(context.Context) error{
		h.readKeys, h.readFiles, h.readSkills, h.readServers, h.readJobs, h.readChats, h.readRest,
	} {
		if err := errors.Join(ctx.Err(), step(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// readKeys hands over the keys of model services among its variables.
func (h home) readKeys(context.Context) error {
	vars := source.Variables(h.t, ".env")
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		provider, ok := strings.CutSuffix(name, "_API_KEY")
		if !ok || vars[name] == "" {
			continue
		}
		provider = strings.ToLower(strings.ReplaceAll(provider, "_", "-"))
		if provider == "gemini" {
			provider = "google"
		}
		k := &imports.Key{Provider: provider, Account: "hermes", Secret: vars[name]}
		if err := h.give(imports.Item{Kind: imports.Keys, ID: name, Name: name, Key: k}); err != nil {
			return err
		}
	}
	return nil
}

// readFiles hands over who the assistant is, and what it remembers.
func (h home) readFiles(context.Context) error {
	for _, f := range []struct {
		kind     imports.Kind
		from, to string
	}{
		{imports.Files, "SOUL.md", "SOUL.md"}, {imports.Files, "AGENTS.md", "AGENTS.md"}, {imports.Files, "memories/USER.md", "USER.md"},
		{imports.Memory, "memories/MEMORY.md", "MEMORY.md"},
	} {
		if !h.t.Has(f.from) {
			continue
		}
		if err := h.give(imports.FileAt(h.t, f.kind, "", f.from, f.to)); err != nil {
			return err
		}
	}
	return nil
}

// readSkills hands over the skills; those that came with Hermes have a list of
// their own, which is not followed.
func (h home) readSkills(context.Context) error {
	names, err := h.t.Files("skills", func(name string) bool { return strings.HasPrefix(path.Base(name), ".") })
	if err != nil {
		return err
	}
	for _, name := range names {
		if path.Base(name) == "SKILL.md" {
			if err := h.give(imports.SkillAt(h.t, path.Dir(name), names)); err != nil {
				return err
			}
		}
	}
	return nil
}

// readServers hands over the MCP servers of config.yaml; its other settings are
// told.
func (h home) readServers(context.Context) error {
	if !h.t.Has("config.yaml") {
		return nil
	}
	raw, err := h.t.Read("config.yaml", maxSettings)
	var doc yaml.Node
	if err == nil {
		err = yaml.Unmarshal(raw, &doc)
	}
	if err == nil && (len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode) {
		err = errors.New("it is no list of settings")
	}
	if err != nil {
		return h.give(imports.Left(imports.Settings, "config.yaml", imports.Why(err), 0))
	}
	top, others := doc.Content[0].Content, 0
	for i := 0; i+1 < len(top); i += 2 {
		if top[i].Value != "mcp_servers" || top[i+1].Kind != yaml.MappingNode {
			others++
			continue
		}
		servers := top[i+1].Content
		for j := 0; j+1 < len(servers); j += 2 {
			body, err := json.Marshal(plain(servers[j+1], 0))
			if err != nil {
				return fmt.Errorf("read the server %s: %w", servers[j].Value, err)
			}
			if err := h.give(imports.ServerOf(servers[j].Value, body)); err != nil {
				return err
			}
		}
	}
	if others == 0 {
		return nil
	}
	return h.give(imports.Left(imports.Settings, "config.yaml", "its settings have no counterpart of the same form; choose a model with "+
		"`hearth models set`", others))
}

// plain is a YAML value as JSON has it. Aliases are not followed.
func plain(n *yaml.Node, depth int) any {
	const deepest = 8
	switch {
	case depth > deepest:
		return nil
	case n.Kind == yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = plain(n.Content[i+1], depth+1)
		}
		return out
	case n.Kind == yaml.SequenceNode:
		out := []any{}
		for _, c := range n.Content {
			out = append(out, plain(c, depth+1))
		}
		return out
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		return n.Value
	}
	return nil
}

// readRest tells what lies there and is not taken.
func (h home) readRest(context.Context) error {
	for _, l := range []struct{ name, dir, why string }{
		{"files of plug-ins", "plugins", "they are programs for Hermes"},
		{"files of hooks", "hooks", "they are programs: look at them, then copy what you want into Hearth's hooks"},
	} {
		names, err := h.t.Files(l.dir, nil)
		if err != nil || len(names) == 0 {
			continue
		}
		if err := h.give(imports.Left(imports.Other, l.name, l.why, len(names))); err != nil {
			return err
		}
	}
	if !h.t.Has("auth.json") {
		return nil
	}
	return h.give(imports.Left(imports.Keys, "auth.json", "logins belong to the program that made them: run `hearth models auth login`", 1))
}
