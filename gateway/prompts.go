package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/prompt"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spawn"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// What the system prompt is told: the settings and facts of a run.

// groupContext is what a model should know in a group.
const groupContext = "This is a group chat: several people write, and each message says who. What you answer is read by all of them. Answer what is meant for you, briefly, and speak for nobody else."

// runPrompt is the system prompt of a run.
func (g *Gateway) runPrompt(a session.Asked) (text string, stable int) {
	p := g.renderPrompt(a)
	return p.Text, p.Stable
}

func (g *Gateway) renderPrompt(a session.Asked) prompt.Prompt {
	c, rec, ref := g.config.Snapshot().Config, a.Run, a.Model
	if a.Scope == nil { // a model without tools
		a.Scope = new(g.scopes.Of(rec, ref))
	}
	scope := *a.Scope
	who := g.agents.Named(scope.AgentID)
	in := prompt.Input{
		Name: who.Name, Theme: who.Theme, Contribution: prompt.ContributionFor(ref.Model), Files: g.promptFiles(c, scope), Warn: warns(c, a.Messages), Delegation: prompt.Delegation(c.Agents.Defaults.Subagents.DelegationMode),
		Memory: true, // where its tools are
		Tools:  a.Tools, Workspace: scope.Workspace, TimeZone: g.clock.ZoneName(),
		Aliases: aliasesOf(c), Sandbox: g.promptSandbox(c, scope), Silence: adviceFor(c, rec.Route), Surface: promptSurface(rec, scope), Program: g.hook.Instructions(rec.ID),
		Runtime:   prompt.Runtime{Agent: scope.AgentID, OS: runtime.GOOS + "/" + runtime.GOARCH, Version: g.opts.Version, Model: ref.String(), Thinking: a.Thinking},
		Reasoning: a.Reasoning, Heartbeat: g.heartbeatPrompt(c, scope),
	}
	if slices.ContainsFunc(a.Tools, func(t model.ToolSpec) bool { return t.Name == "read" }) {
		for _, l := range g.skillLines(scope.SessionKey, scope.SessionID, scope.Workspace) {
			in.Skills = append(in.Skills, prompt.SkillLine(l))
		}
	}
	if scope.Owner && !scope.Group { // others need not know the computer
		in.Runtime.Host, _ = os.Hostname()
		in.Runtime.Repo = repoAbove(scope.Workspace)
		in.Docs = g.docs
	}
	switch {
	case spawn.Depth(rec.SessionKey) > 0:
		in.Mode, in.Context = prompt.Minimal, helperContext
	case scope.Group:
		in.Context = groupContext
	}
	return prompt.Render(in)
}

// repoAbove is the folder of the version control that a workspace is in, "" for
// none.
func repoAbove(dir string) string {
	for range 32 {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
	return ""
}

// docsNear is the folder with the manual that was installed with a program, or lies
// around one that runs out of a checkout; "" where there is none.
func docsNear(program string) string {
	for _, at := range []string{"docs", "../share/hearth/docs", "../Resources/docs"} {
		if docs := filepath.Join(filepath.Dir(program), filepath.FromSlash(at)); filepath.IsAbs(docs) && isManual(docs) {
			return docs
		}
	}
	for range 4 {
		up := filepath.Dir(program)
		if up == program {
			return ""
		}
		docs := filepath.Join(up, "docs")
		if isFile(filepath.Join(up, "go.mod")) && isManual(docs) {
			return docs
		}
		program = up
	}
	return ""
}

func isManual(docs string) bool {
	return isFile(filepath.Join(docs, "configuration.md")) && isFile(filepath.Join(docs, "architecture.md"))
}

func isFile(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode().IsRegular()
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

// promptSandbox is where commands of the run would run.
func (g *Gateway) promptSandbox(c config.Config, scope tool.Scope) *prompt.Sandbox {
	s := c.Tools.Exec.Sandbox
	if s.Backend == "off" || !g.confined.Confined || !g.toolGate.May("exec", scope).Allowed {
		return nil
	}
	return &prompt.Sandbox{Kind: g.confined.Backend, Writes: append([]string{scope.Workspace}, expand(statedir.Home(g.opts.Env), s.Write)...), Network: s.Network}
}

// aliasesOf are the short names of models, in one order.
func aliasesOf(c config.Config) (out []prompt.Alias) {
	models := c.Agents.Defaults.Models
	for _, ref := range slices.Sorted(maps.Keys(models)) {
		if a := models[ref].Alias; a != "" {
			out = append(out, prompt.Alias{Name: a, Model: ref})
		}
	}
	return out
}

// heartbeatPrompt is what the system prompt of a run says of heartbeats, "" for
// nothing: others than the owner need not know.
func (g *Gateway) heartbeatPrompt(c config.Config, scope tool.Scope) string {
	h := c.Agents.Defaults.Heartbeat
	if h.Interval() == 0 || !h.IncludeSystemPromptSection || !scope.Owner || scope.Group || scope.Depth > 0 || g.agents.Book().Default().ID != scope.AgentID {
		return ""
	}
	return rules.HeartbeatPrompt(c)
}

// promptParts tells what a model is given.
type promptParts struct{ g *Gateway }

// Parts implements sessions.Prompt.
func (p promptParts) Parts(key string) ([]session.Part, error) { return p.g.contextParts(key) }

// contextParts are the parts of the prompt that the next message of a session
// would get, after the last one.
func (g *Gateway) contextParts(key string) (parts []session.Part, err error) {
	scope, err := g.direct.Scope(key, "", "")
	if err != nil {
		return nil, err
	}
	rec, err := g.session.Why(key, "")
	if err != nil { // nothing was said yet
		rec = session.Run{SessionKey: scope.SessionKey, Owner: true}
	}
	scope, tools := g.runTools(rec, scope.Model)
	specs := tools.Specs()
	a := session.Asked{Run: rec, Model: scope.Model, Scope: &scope, Tools: tools.All()}
	if row, ok, err := g.session.Get(key); err == nil && ok {
		a.Thinking, a.Reasoning, a.Messages = row.ThinkingLevel, row.ReasoningLevel, row.MessageCount
	}
	p := g.renderPrompt(a)
	parts = append(parts, session.Part{Name: "System prompt", Bytes: len(p.Text)})
	for _, part := range p.Parts {
		name := part.Name
		if part.Of != "" {
			name = part.Of + ", " + name
		}
		if part.Note != "" {
			name += " (" + part.Note + ")"
		}
		parts = append(parts, session.Part{Name: name, Bytes: part.Bytes, Detail: true, Listed: part.Of != ""})
	}
	all := session.Part{Name: "Tools"}
	if hidden := len(a.Tools) - len(specs); hidden > 0 {
		all.Name = fmt.Sprintf("Tools (code mode: exec and wait; %d more behind them are not sent)", hidden)
	}
	var each []session.Part
	for _, t := range specs {
		n := len(t.Name) + len(t.Description) + len(t.Schema)
		all.Bytes += n
		each = append(each, session.Part{Name: t.Name, Bytes: n, Detail: true})
	}
	slices.SortStableFunc(each, func(a, b session.Part) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return append(append(parts, all), each...), nil
}
