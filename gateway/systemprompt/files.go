package systemprompt

import (
	"errors"
	"io/fs"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/prompt"
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

// files are the files of the workspace that a run reads. A new workspace
// gets its starters with the owner's first message.
func (m *Maker) files(c config.Config, scope tool.Scope) (out []prompt.File) {
	b := c.Agents.Defaults.Bootstrap
	private := scope.Owner && !scope.Group
	if private && scope.Depth == 0 && !b.SkipBootstrap && m.first(scope.Workspace) {
		_, _, err := m.o.Workspaces.Hold(scope.Workspace)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = workspace.Seed(scope.Workspace)
		}
		if err != nil {
			m.o.Logger.Warn("the workspace got no starter files", "err", err)
		}
	}
	names := workspace.For(workspace.Reader{Helper: scope.Depth > 0, Stranger: !private, Heartbeat: m.heartbeat(c, scope) != ""})
	for _, f := range m.o.Files.Load(scope.Workspace, names, workspace.Limits{File: b.BootstrapMaxChars, Total: b.BootstrapTotalMaxChars}) {
		out = append(out, prompt.File(f))
	}
	return out
}

// warns reports whether the model is told that files were cut.
func warns(c config.Config, messages int) bool {
	switch c.Agents.Defaults.BootstrapPromptTruncationWarning {
	case "off":
		return false
	case "once":
		return messages <= 1
	}
	return true
}
