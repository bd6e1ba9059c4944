package systemprompt

import (
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/prompt"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// sandbox is what confines the commands of a run; nil: nothing does, or it has
// none.
func (m *Maker) sandbox(c config.Config, scope tool.Scope) *prompt.Sandbox {
	ex, set := m.o.Execution, execution.Section.Of(c).Sandbox
	if _, ok := m.o.Catalog.Own().Lookup("exec"); !ok || set.Backend == "off" || !ex.Sandbox.Confined || !m.o.Gate.May("exec", scope).Allowed {
		return nil
	}
	return &prompt.Sandbox{
		Kind: ex.Sandbox.Backend, Writes: append([]string{scope.Workspace}, statedir.Expand(ex.Home, set.Write)...), Network: set.Network,
	}
}
