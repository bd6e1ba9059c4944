// Package catalog knows which skills an agent and a conversation have: the
// library of skills held against the settings, the agents and this computer. It
// owns the lines of the prompt, the variables that the commands of a run get,
// and the slash commands of skills. How skills are found, judged and kept is
// package skill's; what a person does with them is gateway/feature/skills'.
package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	shipped "github.com/hearth-assistant/hearth/skills"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/skill"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// Options are the parts that a Catalog needs; all of them.
type Options struct {
	Dir        statedir.Dir
	DB         *store.DB
	Settings   *config.File
	Agents     *agents.Directory
	Workspaces *safepath.Workspaces
	Secrets    *lookup.Secrets
	Env        func(string) string
	Execution  *execution.Environment
	Work       *background.Group
	Now        func() time.Time
	Logger     *slog.Logger
}

// Catalog is the library of skills as agents and conversations have it. Its
// methods may be called from several goroutines.
type Catalog struct {
	*skill.Library
	o Options
}

// Open makes the library, and watches commands for it. Its folders lie beside the
// state folder: into that one no tool may look.
func Open(o Options) *Catalog {
	c := &Catalog{o: o}
	load := func() Configured { return Section.Of(o.Settings.Snapshot().Config) }
	c.Library = skill.New(skill.Options{
		Managed: filepath.Join(o.Dir.Skills(), "installed"), Bundled: filepath.Join(o.Dir.Skills(), "bundled"), LockFile: o.Dir.SkillLock(),
		SeenFile: o.Dir.SkillsSeen(), Write: statedir.WriteFile, Snapshots: snapshots{o.Work.Context(), o.DB,
			store.NewBucket[[]byte]("skills.snapshots")},
		Extra: func() []string { return statedir.Expand(statedir.Home(o.Env), load().ExtraDirs) },
		World: c.world, Logger: o.Logger, Now: o.Now,
		Watching: func() bool { return load().Watch },
		Debounce: func() time.Duration { return time.Duration(load().WatchDebounceMs) * time.Millisecond },
	})
	if err := c.Ship(shipped.Files()); err != nil {
		o.Logger.Error("the skills that come with Hearth are not there", "err", err)
	}
	for _, ws := range c.Workspaces() {
		if _, _, err := o.Workspaces.Hold(ws); err != nil && !errors.Is(err, fs.ErrNotExist) {
			o.Logger.Warn("a workspace cannot be used", "workspace", ws, "err", err)
		}
	}
	c.Library.Open(c.Workspaces())
	o.Execution.Processes.Watch(c.begins)
	return c
}

// Close writes down what the folders of skills look like now.
func (c *Catalog) Close() { c.Library.Close(c.Workspaces()) }

// on reports whether skills are used at all.
func (c *Catalog) on() bool {
	settings := c.o.Settings.Snapshot().Config
	return settings.FeatureOn("skills")
}

// Workspaces are the folders of all agents.
func (c *Catalog) Workspaces() (out []string) {
	for _, a := range c.o.Agents.Book().All() {
		if !slices.Contains(out, a.Workspace) {
			out = append(out, a.Workspace)
		}
	}
	return out
}

// begins tells the library of a command that may write into folders of
// skills: one without a sandbox, or whose sandbox has such a folder.
func (c *Catalog) begins(s process.Spec) (ended func()) {
	if s.Confine == nil {
		return c.Busy()
	}
	for _, ws := range c.Workspaces() {
		for _, r := range c.Roots(ws) {
			if (r.Source == skill.Workspace || r.Source == skill.Extra) && slices.ContainsFunc(s.Confine.Write,
				func(w string) bool { return liesIn(r.Dir, w) || liesIn(w, r.Dir) }) {
				return c.Busy()
			}
		}
	}
	return func() {}
}

// liesIn reports whether a path is a folder or lies in it, links followed.
func liesIn(path, dir string) bool {
	real := func(p string) string {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			return r
		}
		return filepath.Clean(p)
	}
	rel, err := filepath.Rel(real(dir), real(path))
	return err == nil && filepath.IsLocal(rel)
}

// world is what the needs of skills are looked up in: programs where
// commands of the assistant look for them, our environment, the settings.
func (c *Catalog) world() skill.World {
	snap := c.o.Settings.Snapshot()
	return skill.World{
		Find: skill.FindIn(c.o.Execution.SearchPath), Env: func(name string) bool { return c.o.Env(name) != "" },
		Config: func(path string) bool { return truthy(snap, path) },
		Entry: func(key string) skill.Entry {
			e := Section.Of(snap.Config).Entries[key]
			out := skill.Entry{Disabled: e.Enabled != nil && !*e.Enabled, APIKey: !e.APIKey.IsZero(), Env: map[string]bool{}}
			for name, v := range e.Env {
				out.Env[name] = !v.IsZero()
			}
			return out
		},
		AllowBundled: Section.Of(snap.Config).AllowBundled,
	}
}

// truthy: a setting is there and is not false, 0, null or empty.
func truthy(snap *config.Snapshot, path string) bool {
	raw, ok, err := snap.Get(path)
	if err == nil && !ok {
		raw, ok, err = snap.InUse(path)
	}
	if err != nil || !ok {
		return false
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return false
	}
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return strings.TrimSpace(v) != ""
	}
	return true
}

// Of are the skills of a run's session, none while they are switched off.
func (c *Catalog) Of(sessionKey, sessionID, workspace string) skill.Snapshot {
	if !c.on() {
		return skill.Snapshot{}
	}
	if sessionID == "" {
		sessionID = sessionKey
	}
	all := c.Session(sessionID, workspace)
	if a := c.o.Agents.Named(session.AgentOf(sessionKey)); !a.AllSkills {
		all.Skills = slices.DeleteFunc(slices.Clone(all.Skills), func(s skill.Status) bool { return !slices.Contains(a.Skills, s.Name) })
	}
	return all
}

// OfAgent are all skills that an agent may use, "" for the default one.
func (c *Catalog) OfAgent(id string) []skill.Status {
	if !c.on() {
		return nil
	}
	a := c.o.Agents.Named(cmp.Or(id, c.o.Agents.Book().Default().ID))
	return slices.DeleteFunc(c.List(a.Workspace), func(s skill.Status) bool { return !a.AllSkills && !slices.Contains(a.Skills, s.Name) })
}

// Lines is what a prompt says of skills; it implements systemprompt.Skills.
func (c *Catalog) Lines(sessionKey, sessionID, workspace string) []skill.Line {
	limits := Section.Of(c.o.Settings.Snapshot().Config)
	chars := cmp.Or(c.o.Agents.Named(session.AgentOf(sessionKey)).SkillChars, limits.MaxPromptChars)
	lines, left := c.Of(sessionKey, sessionID, workspace).Lines(limits.MaxInPrompt, chars)
	if left > 0 {
		c.o.Logger.Warn("not all skills fit into the prompt", "left", left, "session", sessionKey)
	}
	return lines
}

// Environment is what the settings keep for the skills of a run, for its commands
// alone: our own environment stays as it is. Only what the owner asked for gets
// it, and only for skills whose files the owner knows.
func (c *Catalog) Environment(ctx context.Context, call tool.Call) []string {
	if !call.Owner {
		return nil
	}
	entries := Section.Of(c.o.Settings.Snapshot().Config).Entries
	if len(entries) == 0 {
		return nil
	}
	var out []string
	for _, s := range c.Of(call.SessionKey, call.SessionID, call.Workspace).Skills {
		e, ok := entries[s.Key]
		if !ok || !c.Sure(s.Skill) {
			continue
		}
		for name, v := range Values(s.Spec, e) {
			if !skill.Injectable(name) {
				continue
			}
			value, err := c.o.Secrets.Value(ctx, "skills.entries."+s.Key+".env."+name, v)
			if err != nil {
				c.o.Logger.Warn("a skill does not get a value of the settings", "skill", s.Name, "name", name, "err", err)
				continue
			}
			c.o.Secrets.Hide(value)
			out = append(out, name+"="+value.Reveal())
		}
	}
	slices.Sort(out)
	return out
}

// Values are the variables of a skill, its key among them.
func Values(s skill.Spec, e SkillSettings) map[string]config.Secret {
	out := map[string]config.Secret{}
	if s.PrimaryEnv != "" && !e.APIKey.IsZero() {
		out[s.PrimaryEnv] = e.APIKey
	}
	for name, v := range e.Env {
		if !v.IsZero() {
			out[name] = v
		}
	}
	return out
}

// writing is a tool that changes files, those of skills among them.
type writing struct {
	tool.Tool
	skills *skill.Library
}

// Writing is a tool that changes files, of which the library knows while it
// does.
func (c *Catalog) Writing(t tool.Tool) tool.Tool { return writing{t, c.Library} }

// Run implements tool.Tool.
func (w writing) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	defer w.skills.Busy()()
	return w.Tool.Run(ctx, call)
}
