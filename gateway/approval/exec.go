package approval

import (
	"slices"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/approval/sentence"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// ForCommand is the ask of a command. Everything that decides what runs comes
// from the plan; why is the model's own words, home the person's folder.
func ForCommand(call tool.Call, p plan.Plan, why, home string) Ask {
	a := For(KindExec, call)
	a.Tool, a.Why, a.Title = "exec", why, p.Words()
	a.Says = sentence.Command(p, home)
	a.Command, a.Argv, a.Dir = p.Command, slices.Clone(p.Argv), p.Dir
	a.Writes, a.Digest, a.Known, a.Lasting = slices.Clone(p.Writes), p.Digest, p.Known, p.Lasting
	for _, e := range p.Env {
		a.Env = append(a.Env, e.Name+"="+e.Value)
	}
	if len(p.Programs) == 1 && p.Alone {
		a.Program, a.ProgramHash = p.Programs[0].Path, p.Programs[0].Hash
	}
	a.Warnings, a.Lines, a.Scripts = p.Warnings(), p.Lines(), p.Texts()
	return a
}
