// Package systemprompt makes the system prompt of a run: it gathers the settings
// and facts that package prompt renders, which reads none itself. It does not own
// the files of a workspace (package workspace) nor which tools a run has.
package systemprompt

import (
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/heartbeat"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/prompt"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/scope"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/skill"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// Groups say what holds in the group of a route; there is none for other routes.
type Groups interface {
	// GroupPrompt is what the model is told there, "" for nothing.
	GroupPrompt(r channel.Route) string
	// GroupSkill reports whether a skill may be used there.
	GroupSkill(r channel.Route, skill string) bool
}

// Skills are those of a session.
type Skills interface {
	// Lines is what a prompt says of them.
	Lines(sessionKey, sessionID, workspace string) []skill.Line
}

// Programs are those that speak for a run over HTTP.
type Programs interface {
	// Instructions of the program of a run, "" for none.
	Instructions(runID string) string
}

// Tools are those of runs.
type Tools interface {
	// For is what a run may use, and on whose behalf.
	For(rec session.Run, ref model.Ref) (tool.Scope, *tool.Set)
}

// Extras adds to the files that tell an agent who it is.
type Extras interface {
	// More are files for a run: names within the workspace, which are read as every
	// other, and such with their text. names are those that it reads already.
	More(scope tool.Scope, names []string) []Extra
}

// Extra is a file beside the usual ones.
type Extra struct {
	Name string // the last part of its path is one of the usual names
	Text string // "": what stands in the workspace
}

// Options are the parts that a Maker needs; all of them.
type Options struct {
	Settings   *config.File
	Agents     *agents.Directory
	Sessions   *session.Manager
	Scopes     *scope.Scopes
	Direct     *gate.Direct // the scope of a session's next message
	Files      *workspace.Keeper
	Workspaces *safepath.Workspaces
	Clock      *clock.Clock
	Skills     Skills
	Programs   Programs
	Tools      Tools
	Execution  *execution.Environment
	Catalog    *tool.Catalog
	Gate       *gate.Gate
	Groups     Groups
	// Silence says where the model may stay silent, "" for nowhere.
	Silence func(c config.Config, route string) string
	Program string // the path of this program, near which its manual is
	Version string
	Logger  *slog.Logger
}

// Maker makes prompts. Its methods may be called from several goroutines.
type Maker struct {
	o    Options
	docs string // folder with the manual on this computer, "" = none

	cache prompt.Cache
	more  Extras // nil: nobody adds files

	mu   sync.Mutex
	seen map[string]bool // workspaces that were looked at since the start
}

// New returns a maker.
func New(o Options) *Maker {
	m := &Maker{o: o, seen: map[string]bool{}}
	if o.Program != "" {
		m.docs = docsNear(o.Program)
	}
	return m
}

// SetExtras says who adds files. It is called before the first prompt.
func (m *Maker) SetExtras(e Extras) { m.more = e }

// groupContext is what a model should know in a group.
const groupContext = "This is a group chat: several people write, and each message says who. What you answer is read by all of them. " +
	"Answer what is meant for you, briefly, and speak for nobody else."

// Prompt is the system prompt of a run.
func (m *Maker) Prompt(a session.Asked) (text string, stable int) {
	p := m.render(a)
	return p.Text, p.Stable
}

func (m *Maker) render(a session.Asked) prompt.Prompt {
	c, rec, ref := m.o.Settings.Snapshot().Config, a.Run, a.Model
	if a.Scope == nil { // a model without tools
		a.Scope = new(m.o.Scopes.Of(rec, ref))
	}
	scope := *a.Scope
	route, _ := channel.ParseRoute(rec.Route)
	who := m.o.Agents.Named(scope.AgentID)
	in := prompt.Input{
		Name: who.Name, Theme: who.Theme, Contribution: prompt.ContributionFor(ref.Model), Files: m.filesFor(c, rec, scope),
		Warn: warns(c, a.Messages), Delegation: prompt.Delegation(subagent.Section.Of(c).DelegationMode),
		Memory: true, // where its tools are
		Tools:  a.Tools, Workspace: scope.Workspace, TimeZone: m.o.Clock.ZoneName(),
		Aliases: aliasesOf(c), Sandbox: m.sandbox(c, scope), Silence: m.o.Silence(c, rec.Route), Surface: promptSurface(rec, scope),
		Program: m.o.Programs.Instructions(rec.ID),
		Runtime: prompt.Runtime{Agent: scope.AgentID, OS: runtime.GOOS + "/" + runtime.GOARCH, Version: m.o.Version, Model: ref.String(),
			Thinking: a.Thinking},
		Reasoning: a.Reasoning, Heartbeat: m.heartbeat(c, scope),
	}
	if slices.ContainsFunc(a.Tools, func(t model.ToolSpec) bool { return t.Name == "read" }) {
		for _, l := range m.o.Skills.Lines(scope.SessionKey, scope.SessionID, scope.Workspace) {
			if m.o.Groups.GroupSkill(route, l.Name) {
				in.Skills = append(in.Skills, prompt.SkillLine(l))
			}
		}
	}
	if scope.Owner && !scope.Group { // others need not know the computer
		in.Runtime.Host, _ = os.Hostname()
		in.Runtime.Repo = repoAbove(scope.Workspace)
		in.Docs = m.docs
	}
	switch {
	case subagent.Depth(rec.SessionKey) > 0:
		in.Mode, in.Context = prompt.Minimal, helperContext
	case scope.Group:
		in.Context = groupContext
		if words := m.o.Groups.GroupPrompt(route); words != "" {
			in.Context += "\n\n" + words
		}
	}
	return m.cache.Render(in)
}

// helperContext is what a sub-agent has to know of its place.
const helperContext = "You are a sub-agent: another session gave you the task below. Do that task and nothing else. " +
	"Your last answer is reported back to it, so end with the result: what you found or did, in few words, with what is uncertain. " +
	"Nobody reads along and nobody answers questions; say in the result what you would have asked."

// promptSurface is where the words of a run came from.
func promptSurface(rec session.Run, scope tool.Scope) prompt.Surface {
	s := prompt.Surface{Name: scope.Surface, Chat: string(channel.Direct), Sender: scope.Sender, Owner: scope.Owner}
	if r, ok := channel.ParseRoute(rec.Route); ok {
		s.Chat = string(r.Chat)
	}
	return s
}

// aliasesOf are the short names of models, in one order.
func aliasesOf(c config.Config) (out []prompt.Alias) {
	aliases := choice.Section.Of(c).Aliases
	for _, ref := range slices.Sorted(maps.Keys(aliases)) {
		if a := aliases[ref]; a != "" {
			out = append(out, prompt.Alias{Name: a, Model: ref})
		}
	}
	return out
}

// heartbeat is what the system prompt of a run says of heartbeats, "" for
// nothing: others than the owner need not know.
func (m *Maker) heartbeat(c config.Config, scope tool.Scope) string {
	if !heartbeat.Section.Of(c).IncludeSystemPromptSection || !scope.Owner || scope.Group || scope.Depth > 0 {
		return ""
	}
	book := m.o.Agents.Book()
	var ids []string
	for _, a := range book.All() {
		ids = append(ids, a.ID)
	}
	if h, has := heartbeat.Of(c, ids, book.Default().ID)[scope.AgentID]; has && h.Interval() > 0 {
		return h.Asks()
	}
	return ""
}
