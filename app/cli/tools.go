package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newTools(a *app) *cobra.Command {
	var key string
	list := &cobra.Command{Use: "list", Short: "List the tools, and why one may not be used", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return listTools(ctx, a, key) })}
	var args string
	run := &cobra.Command{Use: "run NAME", Short: "Run one tool, by the same rules as the assistant", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, names []string) error { return runTool(ctx, a, names[0], args, key) })}
	run.Flags().StringVar(&args, "args", "{}", "what it is given, as JSON")
	c := group("tools", "See what the assistant may use", list, run)
	c.PersistentFlags().StringVar(&key, "session", "", "in this session (default: the main one)")
	c.RunE = list.RunE
	return c
}

func listTools(ctx context.Context, a *app, key string) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		return err
	}
	defer c.Close()
	if key == "" {
		key = mainSession(c.Hello())
	}
	var res protocol.ToolsEffective
	if err := c.Call(ctx, protocol.MethodToolsEffective, protocol.ToolsEffectiveParams{SessionKey: key}, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	var rows [][]string
	for _, g := range res.Groups {
		for _, t := range g.Tools {
			what, _, _ := strings.Cut(t.Description, ". ")
			rows = append(rows, []string{t.ID, g.ID, "yes", strings.TrimRight(what, ".")})
		}
	}
	for _, t := range res.Denied {
		rows = append(rows, []string{t.ID, "", "no", t.Why})
	}
	return a.out().table([]string{"TOOL", "GROUP", "MAY", "WHAT, OR WHY NOT"}, rows)
}

func runTool(ctx context.Context, a *app, name, args, key string) error {
	if !json.Valid([]byte(args)) {
		return &failure{exitUsage, "--args is no JSON", "for example --args '{\"command\":\"date\"}'"}
	}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeAdmin}})
	if err != nil {
		return err
	}
	defer c.Close()
	if key == "" {
		key = mainSession(c.Hello())
	}
	var res protocol.ToolsInvokeResult
	p := protocol.ToolsInvokeParams{Name: name, Args: json.RawMessage(args), SessionKey: key}
	if err := c.Call(ctx, protocol.MethodToolsInvoke, p, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if res.Error != nil {
		hint := "`hearth tools` lists what may be used"
		if strings.Contains(res.Error.Message, "`hearth ") {
			hint = "" // it says itself what to do
		}
		return &failure{exitFailure, res.Error.Message, hint}
	}
	if res.Output == nil {
		return nil
	}
	for _, b := range res.Output.Content {
		if err := a.out().print(b.Text, "\n"); err != nil {
			return err
		}
	}
	return nil
}
