package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newAgents(a *app) *cobra.Command {
	list := func(ctx context.Context, _ []string) error { return listAgents(ctx, a) }
	var made protocol.AgentsCreateParams
	add := &cobra.Command{
		Use: "add NAME", Short: "Make another assistant, with a folder, model and sessions of its own", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			made.Name = args[0]
			return addAgent(ctx, a, made)
		}),
	}
	add.Flags().StringVar(&made.Workspace, "workspace", "", "its folder (default: ~/Hearth-<id>)")
	add.Flags().StringVar(&made.Model, "model", "", "the model that answers, \"provider/model\"")
	add.Flags().StringVar(&made.Emoji, "emoji", "", "how it is shown")
	set := newAgentsSet(a)
	c := group("agents", "See, add, change and remove assistants",
		&cobra.Command{Use: "list", Short: "List the assistants; * marks the one that answers what is bound to nobody", Args: cobra.NoArgs,
			RunE: a.run(list)},
		&cobra.Command{Use: "show ID", Short: "Show an assistant and the files that tell it who it is", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return showAgent(ctx, a, args[0]) })},
		add, set,
		&cobra.Command{Use: "remove ID", Short: "Take an assistant out of the settings; its folder and conversations stay",
			Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return removeAgent(ctx, a, args[0]) })},
	)
	c.RunE = a.run(list)
	return c
}

func newAgentsSet(a *app) *cobra.Command {
	p := protocol.AgentsUpdateParams{}
	mdl := ""
	set := &cobra.Command{
		Use: "set ID", Short: "Change an assistant; what no flag names stays", Args: cobra.ExactArgs(1),
		Example: "  hearth agents set work --name Office\n  hearth agents set work --model default",
	}
	set.Flags().StringVar(&p.Name, "name", "", "its name")
	set.Flags().StringVar(&p.Workspace, "workspace", "", "its folder")
	set.Flags().StringVar(&mdl, "model", "", "the model that answers, \"provider/model\"; default: as the settings say for all")
	set.Flags().StringVar(&p.Emoji, "emoji", "", "how it is shown")
	set.RunE = a.run(func(ctx context.Context, args []string) error {
		switch p.AgentID = args[0]; mdl {
		case "":
		case "default":
			p.Model = protocol.Patch[string]{Set: true}
		default:
			p.Model = protocol.PatchTo(mdl)
		}
		if p.Name == "" && p.Workspace == "" && p.Emoji == "" && !p.Model.Set {
			return usage("say what should change: --name, --workspace, --model or --emoji")
		}
		var res protocol.AgentsUpdateResult
		if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodAgentsUpdate, p, &res); err != nil {
			return err
		}
		return a.done(res, "Changed. It counts from the next message on.")
	})
	return set
}

func listAgents(ctx context.Context, a *app) error {
	var res protocol.AgentsList
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodAgentsList, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	var rows [][]string
	for _, x := range res.Agents {
		mark := " "
		if x.ID == res.DefaultID {
			mark = "*"
		}
		rows = append(rows, []string{mark, x.ID, agentName(x), x.Model.Primary, x.Workspace})
	}
	return a.out().table([]string{" ", "ID", "NAME", "MODEL", "FOLDER"}, rows)
}

func agentName(x protocol.AgentInfo) string {
	return text.Ellipsis(line(strings.TrimSpace(x.Identity.Emoji+" "+x.Identity.Name)), 60)
}

func showAgent(ctx context.Context, a *app, id string) error {
	var files protocol.AgentFiles
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodAgentsFilesList, protocol.AgentFilesParams{AgentID: id}, &files); err != nil {
		return err
	}
	var all protocol.AgentsList
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodAgentsList, nil, &all); err != nil {
		return err
	}
	var agent protocol.AgentInfo
	for _, x := range all.Agents {
		if x.ID == id {
			agent = x
		}
	}
	if a.asJSON {
		return a.out().json(map[string]any{"agent": agent, "files": files.Files})
	}
	if err := a.out().print(bold(agentName(agent)), "\n",
		line("Model:  "+strings.Join(append([]string{agent.Model.Primary}, agent.Model.Fallbacks...), ", ")), "\n",
		line("Folder: "+agent.Workspace), "\n\n"); err != nil {
		return err
	}
	var rows [][]string
	for _, f := range files.Files {
		state := stamp(f.UpdatedAtMs)
		switch {
		case f.Problem != "":
			state = "cannot be read: " + f.Problem
		case f.Missing && f.ExpectedAbsent:
			state = "not there, and need not be"
		case f.Missing:
			state = "missing"
		}
		rows = append(rows, []string{f.Name, size(f.Size), text.Ellipsis(line(state), 100)})
	}
	return a.out().table([]string{"FILE", "SIZE", "CHANGED"}, rows)
}

func addAgent(ctx context.Context, a *app, p protocol.AgentsCreateParams) error {
	var res protocol.AgentsCreateResult
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodAgentsCreate, p, &res); err != nil {
		return err
	}
	return a.done(res, line("Made "+res.Name+" ("+res.AgentID+") in "+res.Workspace+". Talk to it with `hearth chat -s agent:"+res.AgentID+
		":main \"…\"`, or bind a chat to it (`bindings`)."))
}

func removeAgent(ctx context.Context, a *app, id string) error {
	var res protocol.AgentsDeleteResult
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodAgentsDelete, protocol.AgentsDeleteParams{AgentID: id}, &res); err != nil {
		return err
	}
	return a.done(res, "Removed. Its folder and its conversations are still there.")
}
