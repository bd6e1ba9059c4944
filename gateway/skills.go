package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/skill"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool"
	shipped "github.com/hearth-assistant/hearth/skills"
)

// openSkills makes the library. Its folders lie beside the state folder: into
// that one no tool may look.
func (g *Gateway) openSkills() {
	g.skills = skill.New(skill.Options{
		Managed: filepath.Join(g.opts.Dir.Skills(), "installed"), Bundled: filepath.Join(g.opts.Dir.Skills(), "bundled"), LockFile: g.opts.Dir.SkillLock(),
		SeenFile: g.opts.Dir.SkillsSeen(), Write: statedir.WriteFile, Snapshots: skillSnapshots{g.work.Context(), g.store, store.NewBucket[[]byte]("skills.snapshots")},
		Extra: func() []string {
			return expand(statedir.Home(g.opts.Env), g.config.Snapshot().Config.Skills.Load.ExtraDirs)
		},
		World: g.skillWorld, Logger: g.log, Now: g.opts.Now,
		Watching: func() bool { return g.config.Snapshot().Config.Skills.Load.Watch },
		Debounce: func() time.Duration {
			return time.Duration(g.config.Snapshot().Config.Skills.Load.WatchDebounceMs) * time.Millisecond
		},
	})
	g.config.Subscribe(nil, func(_, _ config.Config) { g.skills.Reconsider() })
	if err := g.skills.Ship(shipped.Files()); err != nil {
		g.log.Error("the skills that come with Hearth are not there", "err", err)
	}
	for _, ws := range g.skillWorkspaces() {
		if _, _, err := g.workspaces.Hold(ws); err != nil && !errors.Is(err, fs.ErrNotExist) {
			g.log.Warn("a workspace cannot be used", "workspace", ws, "err", err)
		}
	}
	g.skills.Open(g.skillWorkspaces())
}

// skillWorkspaces are the folders of all agents.
func (g *Gateway) skillWorkspaces() (out []string) {
	for _, a := range g.agents.Book().All() {
		if !slices.Contains(out, a.Workspace) {
			out = append(out, a.Workspace)
		}
	}
	return out
}

// skillsBusy tells the library of a command that may write into folders of
// skills: one without a sandbox, or whose sandbox has such a folder.
func (g *Gateway) skillsBusy(s process.Spec) (ended func()) {
	if s.Confine == nil {
		return g.skills.Busy()
	}
	for _, ws := range g.skillWorkspaces() {
		for _, r := range g.skills.Roots(ws) {
			if (r.Source == skill.Workspace || r.Source == skill.Extra) && slices.ContainsFunc(s.Confine.Write, func(w string) bool { return liesIn(r.Dir, w) || liesIn(w, r.Dir) }) {
				return g.skills.Busy()
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

// watchSkills follows changes of skills.
func (g *Gateway) watchSkills(ctx context.Context) {
	err := g.skills.Watch(ctx, g.skillWorkspaces, g.skillsChanged)
	if err != nil {
		g.log.Warn("changes of skills are seen with the next session only", "err", err)
	}
}

func (g *Gateway) skillsChanged() {
	g.server.Broadcast(server.Broadcast{Event: protocol.EventSkillsChanged, Payload: struct{}{}})
	if h, err := g.status.Health(g.work.Context()); err == nil { // whether one waits for the owner
		g.server.Broadcast(server.Broadcast{Event: protocol.EventHealth, Payload: h})
	}
}

// skillWorkspace is the folder of an agent, "" for the default one.
func (g *Gateway) skillWorkspace(agent string) (string, error) {
	if agent == "" {
		return g.agents.Book().Default().Workspace, nil
	}
	a, ok := g.agents.Book().Get(agent)
	if !ok {
		return "", fmt.Errorf("%w: there is no agent %q", skill.ErrInvalid, agent)
	}
	return a.Workspace, nil
}

// skillWorld is what the needs of skills are looked up in: programs where
// commands of the assistant look for them, our environment, the settings.
func (g *Gateway) skillWorld() skill.World {
	snap := g.config.Snapshot()
	return skill.World{
		Find: skill.FindIn(g.path), Env: func(name string) bool { return g.opts.Env(name) != "" },
		Config: func(path string) bool { return truthy(snap, path) },
		Entry: func(key string) skill.Entry {
			e := snap.Config.Skills.Entries[key]
			out := skill.Entry{Disabled: e.Enabled != nil && !*e.Enabled, APIKey: !e.APIKey.IsZero(), Env: map[string]bool{}}
			for name, v := range e.Env {
				out.Env[name] = !v.IsZero()
			}
			return out
		},
		AllowBundled: snap.Config.Skills.AllowBundled,
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

// skillsOf are the skills of a run's session.
func (g *Gateway) skillsOf(sessionKey, sessionID, workspace string) skill.Snapshot {
	if sessionID == "" {
		sessionID = sessionKey
	}
	all := g.skills.Session(sessionID, workspace)
	if a := g.agents.Named(session.AgentOf(sessionKey)); !a.AllSkills {
		all.Skills = slices.DeleteFunc(slices.Clone(all.Skills), func(s skill.Status) bool { return !slices.Contains(a.Skills, s.Name) })
	}
	return all
}

// agentSkills are all skills that an agent may use, "" for the default one.
func (g *Gateway) agentSkills(id string) []skill.Status {
	a := g.agents.Named(cmp.Or(id, g.agents.Book().Default().ID))
	return slices.DeleteFunc(g.skills.List(a.Workspace), func(s skill.Status) bool { return !a.AllSkills && !slices.Contains(a.Skills, s.Name) })
}

// skillLines is what a prompt says of skills.
func (g *Gateway) skillLines(sessionKey, sessionID, workspace string) []skill.Line {
	limits := g.config.Snapshot().Config.Skills.Limits
	chars := cmp.Or(g.agents.Named(session.AgentOf(sessionKey)).SkillChars, limits.MaxSkillsPromptChars)
	lines, left := g.skillsOf(sessionKey, sessionID, workspace).Lines(limits.MaxSkillsInPrompt, chars)
	if left > 0 {
		g.log.Warn("not all skills fit into the prompt", "left", left, "session", sessionKey)
	}
	return lines
}

// skillEnv is what the settings keep for the skills of a run, for its commands
// alone: our own environment stays as it is. Only what the owner asked for gets
// it, and only for skills whose files the owner knows.
func (g *Gateway) skillEnv(ctx context.Context, call tool.Call) []string {
	if !call.Owner {
		return nil
	}
	entries := g.config.Snapshot().Config.Skills.Entries
	if len(entries) == 0 {
		return nil
	}
	var out []string
	for _, s := range g.skillsOf(call.SessionKey, call.SessionID, call.Workspace).Skills {
		e, ok := entries[s.Key]
		if !ok || !g.skills.Sure(s.Skill) {
			continue
		}
		for name, v := range skillValues(s.Spec, e) {
			if !skill.Injectable(name) {
				continue
			}
			value, err := g.secrets.Value(ctx, "skills.entries."+s.Key+".env."+name, v)
			if err != nil {
				g.log.Warn("a skill does not get a value of the settings", "skill", s.Name, "name", name, "err", err)
				continue
			}
			g.secrets.Hide(value)
			out = append(out, name+"="+value.Reveal())
		}
	}
	slices.Sort(out)
	return out
}

// skillValues are the variables of a skill, its key among them.
func skillValues(s skill.Spec, e config.SkillEntry) map[string]config.Secret {
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

// skillCommands are the skills that a slash calls.
func (g *Gateway) skillCommands(list []skill.Status) []skill.Command {
	return skill.Commands(list, func(name string) bool {
		_, taken := g.dispatch.Commands().Parse("/" + name)
		return taken
	})
}

// Lines implements systemprompt.Skills.
func (s skillCalls) Lines(sessionKey, sessionID, workspace string) []skill.Line {
	return s.g.skillLines(sessionKey, sessionID, workspace)
}

// Commands implements chat.Skills.
func (s skillCalls) Commands() []skill.Command { return s.g.skillCommands(s.g.agentSkills("")) }

// skillCalls finds and runs the skills that a slash calls.
type skillCalls struct{ g *Gateway }

// Called implements dispatch.Skills.
func (s skillCalls) Called(scope tool.Scope, name string) (skill.Command, bool) {
	for _, c := range s.g.skillCommands(s.g.skillsOf(scope.SessionKey, scope.SessionID, scope.Workspace).Skills) {
		if c.Name == strings.ReplaceAll(name, "-", "_") {
			return c, true
		}
	}
	return skill.Command{}, false
}

// Run implements dispatch.Skills.
func (s skillCalls) Run(ctx context.Context, scope tool.Scope, sk skill.Status, name, args string) (string, error) {
	g := s.g
	raw, err := json.Marshal(map[string]string{"command": args, "commandName": name, "skillName": sk.Name})
	if err != nil {
		return "", err
	}
	g.audit.Add(audit.Entry{Kind: audit.KindTool, What: "was called by the skill " + sk.Name, Who: scope.Surface + ":" + scope.Sender, Session: scope.SessionKey, Run: scope.RunID})
	res := g.tools.Own().Before(g.toolGate.Before).Run(ctx, scope, model.ToolCall{ID: newUUID(), Name: sk.DispatchTool, Arguments: raw}, nil)
	if res.IsError {
		return "The skill " + sk.Name + " could not do it: " + res.Text, nil
	}
	return res.Text, nil
}
