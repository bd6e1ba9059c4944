package agents

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
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// checkWorkspace refuses a folder that an agent cannot have.
func (f *feature) checkWorkspace(dir string) error {
	if dir == "" {
		return nil
	}
	if strings.ContainsFunc(dir, func(r rune) bool { return r < ' ' || r == 0x7f }) || !strings.HasPrefix(dir, "~/") && !filepath.IsAbs(dir) {
		return protocol.Invalid("The workspace %q is not a folder that can be used. Give an absolute path, or one that begins with ~/.", dir)
	}
	at := f.o.Agents.Workspace(dir)
	for _, own := range []string{f.o.StateDir, filepath.Dir(f.o.Settings.Path())} {
		if rel, err := filepath.Rel(own, at); err == nil && filepath.IsLocal(rel) {
			return protocol.Invalid("The workspace cannot be in Hearth's own folder %s.", own)
		}
		if rel, err := filepath.Rel(at, own); err == nil && filepath.IsLocal(rel) {
			return protocol.Invalid("The workspace cannot hold Hearth's own folder %s.", own)
		}
	}
	return nil
}

func (f *feature) create(ctx context.Context, p protocol.AgentsCreateParams) (protocol.AgentsCreateResult, error) {
	id, err := newID(f.o.Agents.Book(), p.Name)
	if err == nil {
		err = cmp.Or(f.checkWorkspace(p.Workspace), checkEmoji(p.Emoji))
	}
	if err != nil {
		return protocol.AgentsCreateResult{}, err
	}
	snap := f.o.Settings.Snapshot()
	made := agents.Entry{ID: id, Name: p.Name, Workspace: p.Workspace, Identity: agents.Identity{Emoji: p.Emoji, Avatar: p.Avatar},
		Model: config.ModelChoice{Primary: p.Model}}
	n := len(agents.Section.Of(snap.Config).List)
	if n == 0 { // the first of a list is the default
		if err := f.put(ctx, snap, 0, agents.Entry{ID: agents.Main, Default: true}); err != nil {
			return protocol.AgentsCreateResult{}, err
		}
		snap, n = f.o.Settings.Snapshot(), 1
	}
	if err := f.put(ctx, snap, n, made); err != nil {
		return protocol.AgentsCreateResult{}, err
	}
	a := f.o.Agents.Named(id)
	return protocol.AgentsCreateResult{OK: true, AgentID: id, Name: a.Name, Workspace: a.Workspace, Model: a.Primary}, nil
}

func (f *feature) put(ctx context.Context, snap *config.Snapshot, at int, a agents.Entry) error {
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return f.edit(ctx, snap, fmt.Sprintf("agents.list[%d]", at), string(raw))
}

// edit writes one value of the list that snap shows.
func (f *feature) edit(ctx context.Context, snap *config.Snapshot, path, value string) error {
	if f.o.Settings.Snapshot().Hash != snap.Hash {
		return config.ErrStale
	}
	var err error
	if value == "" {
		_, err = f.o.Settings.UnsetPath(ctx, path)
	} else {
		_, err = f.o.Settings.SetPath(ctx, path, value)
	}
	return err
}

// checkUpdate refuses what an assistant cannot have.
func (f *feature) checkUpdate(p protocol.AgentsUpdateParams) error {
	if p.Name != "" {
		if err := checkName(f.o.Agents.Book(), p.AgentID, p.Name); err != nil {
			return err
		}
	}
	if err := checkEmoji(p.Emoji); err != nil {
		return err
	}
	return f.checkWorkspace(p.Workspace)
}

func (f *feature) update(ctx context.Context, p protocol.AgentsUpdateParams) (protocol.AgentsUpdateResult, error) {
	if _, err := f.known(p.AgentID); err != nil {
		return protocol.AgentsUpdateResult{}, err
	}
	if err := f.checkUpdate(p); err != nil {
		return protocol.AgentsUpdateResult{}, err
	}
	snap := f.o.Settings.Snapshot()
	list := agents.Section.Of(snap.Config).List
	i := slices.IndexFunc(list, func(a agents.Entry) bool { return a.ID == p.AgentID })
	a := agents.Entry{ID: p.AgentID}
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
		return protocol.AgentsUpdateResult{OK: true, AgentID: a.ID}, f.put(ctx, snap, i, a)
	}
	for _, c := range changes {
		if err := f.edit(ctx, f.o.Settings.Snapshot(), fmt.Sprintf("agents.list[%d].%s", i, c.path), c.value); err != nil {
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

// remove takes an agent out of the settings, with its bindings. Its folder
// and its conversations stay.
func (f *feature) remove(ctx context.Context, p protocol.AgentsDeleteParams) (protocol.AgentsDeleteResult, error) {
	a, err := f.known(p.AgentID)
	if err != nil {
		return protocol.AgentsDeleteResult{}, err
	}
	switch {
	case a.ID == agents.Main:
		return protocol.AgentsDeleteResult{}, protocol.Invalid("The main agent cannot be deleted.")
	case p.DeleteFiles:
		return protocol.AgentsDeleteResult{}, protocol.Invalid("Hearth deletes no folders. Delete the agent without its files, then remove %s "+
			"yourself.", a.Workspace)
	}
	out := protocol.AgentsDeleteResult{AgentID: a.ID}
	for i := len(agents.BindingsSection.Of(f.o.Settings.Snapshot().Config)) - 1; i >= 0; i-- {
		snap := f.o.Settings.Snapshot()
		if list := agents.BindingsSection.Of(snap.Config); i >= len(list) || list[i].Agent != a.ID {
			continue
		}
		if err := f.edit(ctx, snap, fmt.Sprintf("bindings[%d]", i), ""); err != nil {
			return out, err
		}
		out.RemovedBindings++
	}
	snap := f.o.Settings.Snapshot()
	i := slices.IndexFunc(agents.Section.Of(snap.Config).List, func(x agents.Entry) bool { return x.ID == a.ID })
	if i < 0 {
		return out, config.ErrStale
	}
	if err = f.edit(ctx, snap, fmt.Sprintf("agents.list[%d]", i), ""); err != nil {
		return out, err
	}
	out.OK = true
	f.stopRuns(ctx, a.ID)
	return out, nil
}

// stopRuns stops what an agent does that is gone: a run that goes on would do so
// with what it was given under rules that are there no more.
func (f *feature) stopRuns(ctx context.Context, agentID string) {
	err := errors.Join(f.o.Children.StopOf(ctx, func(parent string) bool { return session.AgentOf(parent) == agentID }),
		f.o.Sessions.StopAgent(ctx, agentID))
	if err != nil {
		f.o.Logger.Error("not all answers of an agent that was deleted are stopped", "agent", agentID, "err", err)
	}
}
