package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/undo"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// agentMethods are about the agents and the files that tell them who they are.
func (g *Gateway) agentMethods() []method.Method {
	return []method.Method{
		method.Plain(protocol.MethodAgentsList, g.agentsList),
		method.Plain(protocol.MethodAgentIdentityGet, g.agentIdentity),
		method.Plain(protocol.MethodAgentsCreate, g.agentsCreate),
		method.Plain(protocol.MethodAgentsUpdate, g.agentsUpdate),
		method.Plain(protocol.MethodAgentsDelete, g.agentsDelete),
		method.Plain(protocol.MethodAgentsFilesList, g.agentsFilesList),
		method.Plain(protocol.MethodAgentsFilesGet, g.agentsFilesGet),
		method.Plain(protocol.MethodAgentsFilesSet, g.agentsFilesSet),
	}
}

func (g *Gateway) agentsList(context.Context, method.None) (protocol.AgentsList, error) {
	c := g.config.Snapshot().Config
	def, _ := g.models.Default()
	book := g.agents.Book()
	out := protocol.AgentsList{DefaultID: book.Default().ID, Ownership: "sole", MainKey: cmp.Or(c.Session.MainKey, session.MainAlias), Scope: "per-sender", Agents: []protocol.AgentInfo{}}
	for _, a := range book.All() {
		info := protocol.AgentInfo{
			ID: a.ID, Name: a.Name, Workspace: a.Workspace, Identity: identityOf(a),
			Model: protocol.AgentModels{Primary: cmp.Or(a.Primary, def.String()), Fallbacks: a.Fallbacks},
		}
		if a.Primary == "" {
			info.Model.Fallbacks = c.Agents.Defaults.Model.Fallbacks
		}
		out.Agents = append(out.Agents, info)
	}
	return out, nil
}

func identityOf(a agents.Agent) protocol.AgentIdentity {
	return protocol.AgentIdentity{Name: a.Name, Theme: a.Theme, Emoji: a.Emoji, Avatar: a.Avatar}
}

func (g *Gateway) agentIdentity(_ context.Context, p protocol.AgentIdentityParams) (protocol.AgentIdentity, error) {
	if p.AgentID == "" {
		key, err := g.agents.Canonical(p.SessionKey, "")
		if err != nil {
			return protocol.AgentIdentity{}, err
		}
		p.AgentID = session.AgentOf(key)
	}
	out := identityOf(g.agents.Named(p.AgentID))
	out.AgentID = p.AgentID
	return out, nil
}

// knownAgent finds an agent, or says that there is none.
func (g *Gateway) knownAgent(id string) (agents.Agent, error) {
	a, ok := g.agents.Book().Get(id)
	if !ok {
		return a, protocol.Invalid("There is no agent %q. `hearth agents list` shows those that are there.", id).With("code", "NOT_FOUND")
	}
	return a, nil
}

// placeOf checks the folder of an agent.
func (g *Gateway) placeOf(dir string) error {
	if dir == "" {
		return nil
	}
	if strings.ContainsFunc(dir, func(r rune) bool { return r < ' ' || r == 0x7f }) || !strings.HasPrefix(dir, "~/") && !filepath.IsAbs(dir) {
		return protocol.Invalid("The workspace %q is not a folder that can be used. Give an absolute path, or one that begins with ~/.", dir)
	}
	at := g.agents.Workspace(dir)
	for _, own := range []string{string(g.opts.Dir), filepath.Dir(g.config.Path())} {
		if rel, err := filepath.Rel(own, at); err == nil && filepath.IsLocal(rel) {
			return protocol.Invalid("The workspace cannot be in Hearth's own folder %s.", own)
		}
		if rel, err := filepath.Rel(at, own); err == nil && filepath.IsLocal(rel) {
			return protocol.Invalid("The workspace cannot hold Hearth's own folder %s.", own)
		}
	}
	return nil
}

func (g *Gateway) agentsCreate(ctx context.Context, p protocol.AgentsCreateParams) (protocol.AgentsCreateResult, error) {
	id, err := slug(p.Name)
	if err != nil {
		return protocol.AgentsCreateResult{}, protocol.InvalidParams(protocol.MethodAgentsCreate, "%v", err)
	}
	if err := g.placeOf(p.Workspace); err != nil {
		return protocol.AgentsCreateResult{}, err
	}
	snap := g.config.Snapshot()
	if _, ok := g.agents.Book().Get(id); ok {
		return protocol.AgentsCreateResult{}, protocol.Invalid("There is already an agent %q. Choose another name.", id)
	}
	made := config.Agent{ID: id, Name: p.Name, Workspace: p.Workspace, Identity: config.AgentIdentity{Emoji: p.Emoji, Avatar: p.Avatar}, Model: config.ModelChoice{Primary: p.Model}}
	n := len(snap.Config.Agents.List)
	if n == 0 { // the first of a list is the default
		if err := g.putAgent(ctx, snap, 0, config.Agent{ID: agents.Main, Default: true}); err != nil {
			return protocol.AgentsCreateResult{}, err
		}
		snap, n = g.config.Snapshot(), 1
	}
	if err := g.putAgent(ctx, snap, n, made); err != nil {
		return protocol.AgentsCreateResult{}, err
	}
	a := g.agents.Named(id)
	return protocol.AgentsCreateResult{OK: true, AgentID: id, Name: a.Name, Workspace: a.Workspace, Model: a.Primary}, nil
}

func (g *Gateway) putAgent(ctx context.Context, snap *config.Snapshot, at int, a config.Agent) error {
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return g.putAt(ctx, snap, fmt.Sprintf("agents.list[%d]", at), string(raw))
}

// putAt writes one value of the list that snap shows.
func (g *Gateway) putAt(ctx context.Context, snap *config.Snapshot, path, value string) error {
	if g.config.Snapshot().Hash != snap.Hash {
		return config.ErrStale
	}
	var err error
	if value == "" {
		_, err = g.config.UnsetPath(ctx, path)
	} else {
		_, err = g.config.SetPath(ctx, path, value)
	}
	return err
}

func (g *Gateway) agentsUpdate(ctx context.Context, p protocol.AgentsUpdateParams) (protocol.AgentsUpdateResult, error) {
	if _, err := g.knownAgent(p.AgentID); err != nil {
		return protocol.AgentsUpdateResult{}, err
	}
	if err := g.placeOf(p.Workspace); err != nil {
		return protocol.AgentsUpdateResult{}, err
	}
	snap := g.config.Snapshot()
	list := snap.Config.Clone().Agents.List
	i := slices.IndexFunc(list, func(a config.Agent) bool { return a.ID == p.AgentID })
	a := config.Agent{ID: p.AgentID}
	if i < 0 {
		i = len(list)
	} else {
		a = list[i]
	}
	type change struct{ path, value string }
	var changes []change
	set := func(path, value string, to *string) {
		if value != "" {
			*to = value
			changes = append(changes, change{path, quoteJSON(value)})
		}
	}
	if a.Identity.Name != "" {
		set("identity.name", p.Name, &a.Identity.Name)
	} else {
		set("name", p.Name, &a.Name)
	}
	set("workspace", p.Workspace, &a.Workspace)
	set("identity.emoji", p.Emoji, &a.Identity.Emoji)
	set("identity.avatar", p.Avatar, &a.Identity.Avatar)
	if p.Model.Set && p.Model.Value != nil {
		set("model", *p.Model.Value, &a.Model.Primary)
	} else if p.Model.Set && a.Model.Primary != "" {
		changes = append(changes, change{"model", ""})
	}
	if i == len(list) && len(changes) > 0 { // the main agent, of which nothing was said yet
		a.Default = len(list) == 0
		return protocol.AgentsUpdateResult{OK: true, AgentID: a.ID}, g.putAgent(ctx, snap, i, a)
	}
	for _, c := range changes {
		if err := g.putAt(ctx, g.config.Snapshot(), fmt.Sprintf("agents.list[%d].%s", i, c.path), c.value); err != nil {
			return protocol.AgentsUpdateResult{}, err
		}
	}
	return protocol.AgentsUpdateResult{OK: true, AgentID: a.ID}, nil
}

func quoteJSON(s string) string {
	raw, err := json.Marshal(s)
	if err != nil { // a string always can be
		return `""`
	}
	return string(raw)
}

// agentsDelete takes an agent out of the settings, with its bindings. Its folder
// and its conversations stay.
func (g *Gateway) agentsDelete(ctx context.Context, p protocol.AgentsDeleteParams) (protocol.AgentsDeleteResult, error) {
	a, err := g.knownAgent(p.AgentID)
	if err != nil {
		return protocol.AgentsDeleteResult{}, err
	}
	switch {
	case a.ID == agents.Main:
		return protocol.AgentsDeleteResult{}, protocol.Invalid("The main agent cannot be deleted.")
	case p.DeleteFiles:
		return protocol.AgentsDeleteResult{}, protocol.Invalid("Hearth deletes no folders. Delete the agent without its files, then remove %s yourself.", a.Workspace)
	}
	out := protocol.AgentsDeleteResult{AgentID: a.ID}
	for i := len(g.config.Snapshot().Config.Bindings) - 1; i >= 0; i-- {
		snap := g.config.Snapshot()
		if i >= len(snap.Config.Bindings) || snap.Config.Bindings[i].AgentID != a.ID {
			continue
		}
		if err := g.putAt(ctx, snap, fmt.Sprintf("bindings[%d]", i), ""); err != nil {
			return out, err
		}
		out.RemovedBindings++
	}
	snap := g.config.Snapshot()
	i := slices.IndexFunc(snap.Config.Agents.List, func(x config.Agent) bool { return x.ID == a.ID })
	if i < 0 {
		return out, config.ErrStale
	}
	if err = g.putAt(ctx, snap, fmt.Sprintf("agents.list[%d]", i), ""); err != nil {
		return out, err
	}
	out.OK = true
	g.hush(ctx, a.ID)
	return out, nil
}

// hush stops what an agent does that is gone: a run that goes on would do so
// with what it was given under rules that are there no more.
func (g *Gateway) hush(ctx context.Context, agentID string) {
	list, err := g.session.List(ctx, protocol.SessionsListParams{AgentID: agentID})
	for _, s := range list.Sessions {
		g.stopChildren(ctx, s.Key, "")
		if err == nil && (s.HasActiveRun || s.QueuedRuns > 0) {
			_, err = g.session.Abort(ctx, s.Key, "")
		}
	}
	if err != nil {
		g.log.Error("not all answers of an agent that was deleted are stopped", "agent", agentID, "err", err)
	}
}

func (g *Gateway) agentsFilesList(_ context.Context, p protocol.AgentFilesParams) (protocol.AgentFiles, error) {
	a, err := g.knownAgent(cmp.Or(p.AgentID, g.agents.Book().Default().ID))
	if err != nil {
		return protocol.AgentFiles{}, err
	}
	out := protocol.AgentFiles{AgentID: a.ID, Workspace: a.Workspace, Files: []protocol.AgentFile{}}
	for _, name := range workspace.Names() {
		e, err := g.files.Get(a.Workspace, name)
		f := agentFile(e, false)
		if err != nil {
			f.Name, f.Path, f.Problem = name, filepath.Join(a.Workspace, name), err.Error()
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}

func agentFile(e workspace.Entry, content bool) protocol.AgentFile {
	f := protocol.AgentFile{Name: e.Name, Path: e.Path, Missing: e.Missing, Hash: e.Hash, Size: e.Size, ExpectedAbsent: e.Missing && workspace.Optional(e.Name)}
	if !e.Missing {
		if !e.UpdatedAt.IsZero() { // it could be read
			f.UpdatedAtMs = e.UpdatedAt.UnixMilli()
		}
		if content {
			f.Content = &e.Content
		}
	}
	return f
}

func (g *Gateway) agentsFilesGet(_ context.Context, p protocol.AgentFileParams) (protocol.AgentFileResult, error) {
	a, err := g.knownAgent(p.AgentID)
	if err != nil {
		return protocol.AgentFileResult{}, err
	}
	e, err := g.files.Get(a.Workspace, p.Name)
	return protocol.AgentFileResult{AgentID: a.ID, Workspace: a.Workspace, File: agentFile(e, true)}, fileError(err)
}

func (g *Gateway) agentsFilesSet(ctx context.Context, p protocol.AgentFileSetParams) (protocol.AgentFileResult, error) {
	a, err := g.knownAgent(p.AgentID)
	if err != nil {
		return protocol.AgentFileResult{}, err
	}
	turn := undo.Turn{RunID: newUUID(), Tool: protocol.MethodAgentsFilesSet}
	e, err := g.files.Set(ctx, g.undo, turn, a.Workspace, p.Name, p.Content, strings.ToLower(p.ExpectedHash))
	return protocol.AgentFileResult{OK: err == nil, AgentID: a.ID, Workspace: a.Workspace, File: agentFile(e, true)}, fileError(err)
}

// fileError gives the workspace's errors their form on the wire.
func fileError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, workspace.ErrStale):
		return protocol.Invalid("%v", err).With("code", "STALE")
	}
	return protocol.Invalid("%v", err)
}
