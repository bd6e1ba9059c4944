package openclaw

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/imports/source"
	"github.com/hearth-assistant/hearth/gateway/sqlite"
)

// outline is what the reader itself needs of the settings.
type outline struct {
	Agents struct {
		Defaults struct {
			Workspace string `json:"workspace"`
		} `json:"defaults"`
		List []struct {
			ID        string `json:"id"`
			Workspace string `json:"workspace"`
		} `json:"list"`
	} `json:"agents"`
	Env map[string]any `json:"env"`
}

// variables are those that the settings say themselves, each in env or in env.vars.
func (o outline) variables() map[string]string {
	out := map[string]string{}
	vars, _ := o.Env["vars"].(map[string]any)
	for _, list := range []map[string]any{o.Env, vars} {
		for name, v := range list {
			if s, ok := v.(string); ok && s != "" {
				out[name] = s
			}
		}
	}
	return out
}

// readSettings hands over the file of settings, and finds out where the agents
// have their files.
func (h *home) readSettings(context.Context) error {
	h.env = source.Variables(h.t, ".env")
	name := h.settings(h.t)
	if name == "" {
		h.findWorkspaces(outline{})
		return nil
	}
	raw, err := h.t.Read(name, maxSettings)
	var plain json.RawMessage
	if err == nil {
		plain, err = h.Plain(string(raw))
	}
	if err != nil {
		h.findWorkspaces(outline{})
		return h.give(imports.Left(imports.Settings, name, imports.Why(err), 0))
	}
	var o outline
	_ = json.Unmarshal(plain, &o) // of another shape: there is nothing to follow
	h.own = o.variables()
	maps.Copy(h.env, h.own)
	h.text = string(plain)
	if err := h.findWorkspaces(o); err != nil {
		return err
	}
	return h.give(imports.Item{Kind: imports.Settings, ID: name, Name: name, Settings: &imports.Text{Raw: string(plain), Env: h.env}})
}

// findWorkspaces lists the agents' folders that lie in the home; those elsewhere
// are told, not followed.
func (h *home) findWorkspaces(o outline) error {
	add := func(agent, dir string) {
		w := workspace{agent, dir}
		if !slices.Contains(h.roots, w) && len(h.filesBelow(dir)) > 0 {
			h.roots = append(h.roots, w)
		}
	}
	var outside []string
	of := func(agent, configured, usual string) {
		if configured == "" {
			add(agent, usual)
			return
		}
		if rel, ok := h.inside(configured); ok {
			add(agent, rel)
		} else {
			outside = append(outside, configured)
			add(agent, usual)
		}
	}
	of("", o.Agents.Defaults.Workspace, "workspace")
	for _, a := range o.Agents.List {
		if a.ID != "" && (a.Workspace != "" || a.ID != "main") {
			of(a.ID, a.Workspace, "workspace-"+a.ID)
		}
	}
	for _, dir := range outside {
		if err := h.give(imports.Left(imports.Files, dir, "this workspace lies outside of the folder; copy it into it as \"workspace\", "+
			"and import again", 1)); err != nil {
			return err
		}
	}
	return nil
}

func (h *home) filesBelow(dir string) []string {
	names, err := h.t.Files(dir, skip)
	if err != nil {
		return nil
	}
	return names
}

// inside is a path of the settings as one below the home.
func (h *home) inside(dir string) (string, bool) {
	dir = strings.ReplaceAll(dir, `\`, "/")
	own := strings.ReplaceAll(h.t.Path, `\`, "/") + "/"
	for _, prefix := range []string{own, "~/.openclaw/", "~/.milaidy/", "~/.clawdbot/", "~/.moltbot/"} {
		if rest, ok := strings.CutPrefix(dir, prefix); ok {
			return path.Clean(rest), path.IsAbs(path.Clean("/" + rest))
		}
	}
	// It may have been moved here from another computer.
	if i := strings.LastIndex(dir, "/.openclaw/"); i >= 0 {
		return path.Clean(dir[i+len("/.openclaw/"):]), true
	}
	return "", false
}

// readPeople hands over who was let in on messaging networks.
func (h *home) readPeople(context.Context) error {
	err := h.rows("channel_pairing_allow_entries", func(r *sqlite.Row) error {
		return h.person(r.Text("channel_key"), r.Text("account_id"), r.Text("entry"))
	})
	if err != nil {
		return err
	}
	names, err := h.t.Files("credentials", nil)
	if err != nil {
		return err
	}
	for _, name := range names {
		base, ok := strings.CutSuffix(path.Base(name), "-allowFrom.json")
		if !ok {
			continue
		}
		var list struct {
			AllowFrom []string `json:"allowFrom"`
		}
		raw, err := h.t.Read(name, maxSettings)
		if err != nil || json.Unmarshal(raw, &list) != nil {
			if err := h.give(imports.Left(imports.People, name, "the file cannot be read", 0)); err != nil {
				return err
			}
			continue
		}
		channel, account, _ := strings.Cut(base, "-")
		for _, id := range list.AllowFrom {
			if err := h.person(channel, account, id); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *home) person(channel, account, id string) error {
	id = strings.TrimSpace(id)
	if account == "" {
		account = "default"
	}
	name := channel + ":" + account + ":" + id
	if id == "" || id == "*" || h.has[name] {
		return nil
	}
	h.has[name] = true
	p := &imports.Person{Channel: channel, Account: account, ID: id}
	return h.give(imports.Item{Kind: imports.People, ID: name, Name: name, Person: p})
}
