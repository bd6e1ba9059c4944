package gateway

import (
	"os"

	"github.com/hearth-assistant/hearth/gateway/answers"
	"github.com/hearth-assistant/hearth/gateway/document"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/feature/codemode"
	"github.com/hearth-assistant/hearth/gateway/isolate"
	"github.com/hearth-assistant/hearth/gateway/openaiserver"
	"github.com/hearth-assistant/hearth/gateway/process"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	skillcatalog "github.com/hearth-assistant/hearth/gateway/skill/catalog"
	"github.com/hearth-assistant/hearth/gateway/speech/sound"
	"github.com/hearth-assistant/hearth/gateway/startup"
	"github.com/hearth-assistant/hearth/gateway/systemprompt"
	"github.com/hearth-assistant/hearth/gateway/taint"
	"github.com/hearth-assistant/hearth/gateway/teardown"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
	"github.com/hearth-assistant/hearth/gateway/tool/web"
	"github.com/hearth-assistant/hearth/gateway/toolset"
	"github.com/hearth-assistant/hearth/gateway/undo"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// The arguments with which this program starts itself again, each as its only one:
// to watch over a command, and to read what strangers made.
const GuardianArg, ReaderArg = "__child", "__reader"

// Guardian watches over a command; it returns the exit code.
func Guardian() int { return process.Child() }

// Reader does one job within limits, see package apart; it returns the exit code.
func Reader() int {
	return isolate.Main(map[string]isolate.Job{web.Job: web.Convert, document.Job: document.Convert, sound.Job: sound.Convert})
}

func (b *base) reader() *document.Reader {
	return document.Apart(isolate.Beside(b.Guardian, ReaderArg))
}

// runs is what answers work with: tools, and what those stand on; features bring
// the tools.
type runs struct {
	workspaces safepath.Workspaces // held from the start on
	execution  *execution.Environment
	skills     *skillcatalog.Catalog
	finder     safepath.Finder // of files, and never our own
	undo       *undo.Log
	files      *workspace.Keeper     // those that tell an agent who it is
	catalog    *tool.Catalog         // of all tools
	openai     *openaiserver.Handler // programs that speak OpenAI's API
	taint      *taint.Tracker        // of text from outside
	tools      *toolset.Runs         // what each run gets of them
	prompts    *systemprompt.Maker
	code       *codemode.CodeMode // nil: there is none
}

func openRuns(b *base, a *access, g *guard, t *talk, ends *teardown.Stack) (r *runs, err error) {
	r = new(runs)
	ends.Plain(r.workspaces.Close)
	r.execution = execution.Open(execution.Options{Dir: b.Dir, Settings: b.config, Guardian: b.Guardian, Env: b.Env, Now: b.Now,
		Logger: b.Logger})
	r.skills = skillcatalog.Open(skillcatalog.Options{
		Dir: b.Dir, DB: b.store, Settings: b.config, Agents: b.agents, Workspaces: &r.workspaces, Secrets: b.secrets, Env: b.Env,
		Execution: r.execution, Work: b.work, Now: b.Now, Logger: b.Logger,
	})
	ends.Plain(r.skills.Close)
	ends.Add("commands", r.execution.Processes.Close)
	r.finder = safepath.Finder{Home: r.execution.Home, Private: r.execution.Hide, Readable: r.skills.Holds, Workspaces: &r.workspaces}
	r.undo, err = undo.Open(undo.Options{Dir: b.Dir.Undo(), DB: b.store, Finder: r.finder, Now: b.Now, NewID: uuid.New, Logger: b.Logger})
	if err != nil {
		return nil, startup.Cannot("The kept copies of changed files cannot be used", err,
			"Move "+b.Dir.Undo()+" away; nothing can be taken back then")
	}
	r.files = workspace.New(r.finder, b.Now)
	r.catalog = tool.NewCatalog(&b.redactor, b.Logger)
	r.openai = openaiserver.New(openaiserver.Options{Admit: a.door.Admit, Now: b.Now, NewID: uuid.New, Mark: untrusted.Wrapper{}.Wrap})
	g.gate.SetPrograms(r.openai)
	g.gate.AddRule(t.hub.GroupTool)
	r.taint = taint.New(taint.Options{Sessions: t.sessions, Owner: t.owner, Audit: b.audit, Work: b.work, Logger: b.Logger})
	r.tools = toolset.New(toolset.Options{
		Catalog: r.catalog, Scopes: t.scopes, Gate: g.gate, Agents: b.agents, Programs: r.openai, Taint: r.taint, Incidents: b.incidents,
		Work: b.work, Logger: b.Logger,
	})
	program, _ := os.Executable() // without it there is no manual to point to
	r.prompts = systemprompt.New(systemprompt.Options{
		Settings: b.config, Agents: b.agents, Sessions: t.sessions, Scopes: t.scopes, Direct: t.direct, Files: r.files,
		Workspaces: &r.workspaces, Clock: b.clock, Skills: r.skills, Programs: r.openai, Tools: r.tools, Execution: r.execution,
		Catalog: r.catalog, Gate: g.gate, Groups: t.hub, Silence: answers.SilenceAdvice, Program: program,
		Version: b.Version, Logger: b.Logger,
	})
	return r, nil
}
