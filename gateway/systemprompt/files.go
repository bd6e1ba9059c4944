package systemprompt

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/prompt"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// first reports whether a workspace was not asked about before.
func (m *Maker) first(dir string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.seen[dir]
	m.seen[dir] = true
	return !was
}

// filesFor leaves out of a run that is to be light all but what a heartbeat reads.
func (m *Maker) filesFor(c config.Config, rec session.Run, scope tool.Scope) []prompt.File {
	all := m.files(c, scope)
	if rec.Terms == nil || !rec.Terms.Light {
		return all
	}
	return slices.DeleteFunc(all, func(f prompt.File) bool { return f.Name != workspace.Heartbeat })
}

// files are the files of the workspace that a run reads. A new workspace
// gets its starters with the owner's first message.
func (m *Maker) files(c config.Config, scope tool.Scope) (out []prompt.File) {
	b := Section.Of(c)
	private := scope.Owner && !scope.Group
	if private && scope.Depth == 0 && !b.Skip && m.first(scope.Workspace) {
		_, _, err := m.o.Workspaces.Hold(scope.Workspace)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = workspace.Seed(scope.Workspace)
		}
		if err != nil {
			m.o.Logger.Warn("the workspace got no starter files", "err", err)
		}
	}
	names := workspace.For(workspace.Reader{Helper: scope.Depth > 0, Stranger: !private, Heartbeat: m.heartbeat(c, scope) != ""})
	limits := workspace.Limits{File: b.MaxChars, Total: b.TotalMaxChars}
	for _, f := range m.o.Files.Load(scope.Workspace, names, limits) {
		out = append(out, prompt.File(f))
		limits.Total -= f.Kept
	}
	if m.more != nil && limits.Total > 0 {
		out = append(out, m.extras(scope, names, limits)...)
	}
	return out
}

// extras are files that hooks add, by the rules of the usual ones: a reader that
// may not see USER.md sees no other of that name.
func (m *Maker) extras(scope tool.Scope, names []string, limits workspace.Limits) (out []prompt.File) {
	for _, e := range m.more.More(scope, names) {
		if !slices.Contains(names, path.Base(e.Name)) || slices.Contains(names, e.Name) ||
			slices.ContainsFunc(out, func(f prompt.File) bool { return f.Name == e.Name }) || limits.Total <= 0 {
			continue
		}
		f := workspace.File{Name: e.Name}
		if e.Text != "" {
			f = workspace.Shown(e.Name, e.Text, limits)
		} else if found := m.o.Files.Load(scope.Workspace, []string{e.Name}, limits); len(found) == 1 {
			f = found[0]
		}
		if f.Text != "" {
			out = append(out, prompt.File(f))
			limits.Total -= f.Kept
		}
	}
	return out
}

// warns reports whether the model is told that files were cut.
func warns(c config.Config, messages int) bool {
	switch Section.Of(c).TruncationWarning {
	case "off":
		return false
	case "once":
		return messages <= 1
	}
	return true
}
