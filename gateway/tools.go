package gateway

import (
	"slices"

	"github.com/hearth-assistant/hearth/gateway/apart"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/hook"
	"github.com/hearth-assistant/hearth/gateway/media"
	"github.com/hearth-assistant/hearth/gateway/place"
	"github.com/hearth-assistant/hearth/gateway/process"
	skillcatalog "github.com/hearth-assistant/hearth/gateway/skill/catalog"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
	"github.com/hearth-assistant/hearth/gateway/tool/web"
	"github.com/hearth-assistant/hearth/gateway/undo"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// The arguments with which this program starts itself again, each as its only one:
// to watch over a command, and to read what strangers made.
const (
	GuardianArg = "__child"
	ReaderArg   = "__reader"
)

// Guardian watches over a command; it returns the exit code.
func Guardian() int { return process.Child() }

// Reader does one job within limits, see package apart; it returns the exit code.
func Reader() int { return apart.Main(map[string]apart.Job{web.Job: web.Convert}) }

// readerOf is the command that starts Reader, next to the guardian's; nil for none.
func readerOf(guardian []string) []string {
	if n := len(guardian); n > 1 {
		return append(slices.Clone(guardian[:n-1]), ReaderArg)
	}
	return nil
}

// openTools opens what tools stand on; features bring the tools.
func (g *Gateway) openTools() (err error) {
	g.execution = execution.Open(execution.Options{
		Dir: g.opts.Dir, Settings: g.config, Guardian: g.opts.Guardian, Env: g.opts.Env, Now: g.opts.Now, Logger: g.log,
	})
	g.skills = skillcatalog.Open(skillcatalog.Options{
		Dir: g.opts.Dir, DB: g.store, Settings: g.config, Agents: g.agents, Workspaces: &g.workspaces, Secrets: g.secrets, Env: g.opts.Env,
		Execution: g.execution, Work: g.work, Now: g.opts.Now, Logger: g.log,
	})
	g.undo, err = undo.Open(undo.Options{
		Dir: g.opts.Dir.Undo(), DB: g.store, Finder: g.finder(), Now: g.opts.Now, NewID: newUUID, Logger: g.log,
	})
	if err != nil {
		return &StartError{
			What: "The kept copies of changed files cannot be used", Err: err,
			Fix: "Move " + g.opts.Dir.Undo() + " away; nothing can be taken back then",
		}
	}
	g.files = workspace.New(g.finder(), g.opts.Now)
	g.tools = tool.NewCatalog(&g.redactor, g.log)
	g.hook = hook.New(hook.Options{Admit: g.door.Admit, Now: g.opts.Now, NewID: newUUID, Mark: untrusted.Wrapper{}.Wrap})
	g.toolGate.SetPrograms(g.hook)
	return nil
}

// finder finds files for tools, and never our own.
func (g *Gateway) finder() place.Finder {
	return place.Finder{Home: g.execution.Home, Private: g.execution.Hide, Readable: g.skills.Holds, Workspaces: &g.workspaces}
}

// pictures are those of conversations.
func (g *Gateway) pictures() *media.Store { return media.New(g.opts.Dir.Media()) }
