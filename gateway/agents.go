package gateway

import (
	"errors"
	"io/fs"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/prompt"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// The agents of the settings: who there is, who answers, and what each reads.

// seeded remembers the workspaces that were looked at since the start.
type seeded struct {
	mu   sync.Mutex
	dirs map[string]bool
}

// first reports whether a folder was not asked about before.
func (s *seeded) first(dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dirs == nil {
		s.dirs = map[string]bool{}
	}
	was := s.dirs[dir]
	s.dirs[dir] = true
	return !was
}

// promptFiles are the files of the workspace that a run reads. A new workspace
// gets its starters with the owner's first message.
func (g *Gateway) promptFiles(c config.Config, scope tool.Scope) (out []prompt.File) {
	b := c.Agents.Defaults.Bootstrap
	private := scope.Owner && !scope.Group
	if private && scope.Depth == 0 && !b.SkipBootstrap && g.seeded.first(scope.Workspace) {
		_, _, err := g.workspaces.Hold(scope.Workspace)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = workspace.Seed(scope.Workspace)
		}
		if err != nil {
			g.log.Warn("the workspace got no starter files", "err", err)
		}
	}
	names := workspace.For(workspace.Reader{Helper: scope.Depth > 0, Stranger: !private, Heartbeat: g.heartbeatPrompt(c, scope) != ""})
	for _, f := range g.files.Load(scope.Workspace, names, workspace.Limits{File: b.BootstrapMaxChars, Total: b.BootstrapTotalMaxChars}) {
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
