package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/mcp/serve"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

type mcpAdd struct {
	url          string
	headers, env []string
	cwd          string
	read, write  []string
}

func newMCP(a *app) *cobra.Command {
	var o mcpAdd
	add := &cobra.Command{
		Use: "add NAME [-- COMMAND ARG…]", Short: "Set up a server: a program to start, or with --url a service",
		Example: "  hearth mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/Documents\n" +
			"  hearth mcp add tracker --url https://mcp.example.com/mcp --header \"Authorization: Bearer …\"",
		Args: cobra.MinimumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { return addMCP(ctx, a, o, args) }),
	}
	f := add.Flags()
	f.StringVar(&o.url, "url", "", "the `ADDRESS` of a service")
	f.StringArrayVar(&o.headers, "header", nil, "a `\"NAME: VALUE\"` that it gets with every request; may be given several times")
	f.StringArrayVar(&o.env, "env", nil, "a `NAME=VALUE` for the program; may be given several times")
	f.StringVar(&o.cwd, "cwd", "", "the `FOLDER` that it runs in (default: an empty one)")
	mayUse(f, &o.read, &o.write)
	enable := func(value string) func(context.Context, []string) error {
		return func(ctx context.Context, args []string) error { return enableMCP(ctx, a, args[0], value) }
	}
	one := cobra.ExactArgs(1)
	c := group("mcp", "Tools from outside, by the Model Context Protocol",
		&cobra.Command{Use: "list", Short: "List the servers and their tools", Args: cobra.NoArgs,
			RunE: a.run(func(ctx context.Context, _ []string) error { return listMCP(ctx, a) })},
		add, newMCPAllow(a),
		&cobra.Command{Use: "remove NAME", Short: "Remove a server from the settings", Args: one,
			RunE: a.run(func(ctx context.Context, args []string) error {
				return removeMCP(ctx, a, args[0])
			})},
		&cobra.Command{Use: "enable NAME", Short: "Turn a server on", Args: one, RunE: a.run(enable("true"))},
		&cobra.Command{Use: "disable NAME", Short: "Turn a server off, keeping its settings", Args: one, RunE: a.run(enable("false"))},
		&cobra.Command{Use: "test NAME", Short: "Start a server anew and say how that went", Args: one,
			RunE: a.run(func(ctx context.Context, args []string) error { return testMCP(ctx, a, args[0]) })},
		newMCPLogin(a), newMCPLogout(a), newMCPResources(a), newMCPRead(a), newMCPPrompts(a), newMCPPrompt(a),
		&cobra.Command{Use: "serve", Short: "Be an MCP server for another program, over standard input and output",
			Long: "Be an MCP server for another program, over standard input and output: it can talk\n" +
				"to the assistant, list and read conversations, and search what it remembers. It needs a\nrunning gateway.",
			Args: cobra.NoArgs, RunE: a.run(func(ctx context.Context, _ []string) error { return serveMCP(ctx, a) })},
	)
	return c
}

func mcpPath(name string) string {
	return config.Path{config.Key("mcp"), config.Key("servers"), config.Key(name)}.String()
}

func listMCP(ctx context.Context, a *app) error {
	var res protocol.MCPServers
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodMCPList, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if len(res.Servers) == 0 {
		return a.out().print("No MCP server is set up. `hearth mcp add` does it.\n")
	}
	var list [][]string
	for _, s := range res.Servers {
		list = append(list, []string{s.ID, s.State, fmt.Sprint(len(s.Tools)), s.Problem})
	}
	return a.out().table([]string{"SERVER", "STATE", "TOOLS", "PROBLEM"}, list)
}

func testMCP(ctx context.Context, a *app, name string) error {
	var s protocol.MCPServer
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodMCPTest, protocol.MCPServerParams{ID: name}, &s); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(s)
	}
	if s.State != "ready" {
		return &failure{exitFailure, "the MCP server " + line(name) + " does not run: " + line(s.Problem), "`hearth config get mcp.servers` " +
			"shows how it is set up"}
	}
	if err := a.sayReach(s); err != nil {
		return err
	}
	var list [][]string
	for _, t := range s.Tools {
		list = append(list, []string{t.Name, text.Ellipsis(line(t.Description), 80)})
	}
	for _, t := range s.Skipped {
		list = append(list, []string{"(left out)", line(t)})
	}
	return a.out().table([]string{"TOOL", "WHAT IT SAYS OF ITSELF"}, list)
}

func addMCP(ctx context.Context, a *app, o mcpAdd, args []string) error {
	s := map[string]any{}
	switch {
	case o.url != "" && len(args) > 1, o.url == "" && len(args) < 2:
		return usage("give either a command behind -- or --url")
	case o.url != "":
		s["url"] = o.url
	default:
		program := args[1:]
		if o.cwd == "" {
			program = whole(program)
		}
		s["command"] = program[0]
		if len(program) > 1 {
			s["args"] = program[1:]
		}
	}
	if o.cwd != "" {
		s["cwd"] = o.cwd
	}
	box, err := a.sandboxOf(o.read, o.write)
	if err != nil {
		return err
	}
	if len(box) > 0 {
		s["sandbox"] = box
	}
	for key, pairs := range map[string][]string{"headers": o.headers, "env": o.env} {
		sep := map[string]string{"headers": ":", "env": "="}[key]
		for _, pair := range pairs {
			name, value, ok := strings.Cut(pair, sep)
			if !ok {
				return usage("%q is no NAME%sVALUE", pair, sep)
			}
			m, _ := s[key].(map[string]string)
			if m == nil {
				m = map[string]string{}
				s[key] = m
			}
			m[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write the setting: %w", err)
	}
	now, err := a.settings(ctx)
	if err != nil {
		return err
	}
	if _, there, err := now.InUse(mcpPath(args[0])); err == nil && there {
		return &failure{exitFailure, "there is an MCP server " + line(args[0]) + " already, and it stays as it is", "take another name, or " +
			"`hearth mcp remove " + text.ShellWord(args[0]) + "` first; `hearth mcp allow` lets its program do more"}
	}
	if err := runConfigSet(ctx, a, mcpPath(args[0]), string(b)); err != nil || o.url != "" || a.asJSON {
		return err
	}
	return a.sayNamed(args[0], s)
}

// enableMCP turns a server that is there on or off.
func enableMCP(ctx context.Context, a *app, name, value string) error {
	if err := a.hasMCP(ctx, name); err != nil {
		return err
	}
	return runConfigSet(ctx, a, mcpPath(name)+".enabled", value)
}

func removeMCP(ctx context.Context, a *app, name string) error {
	if err := a.hasMCP(ctx, name); err != nil {
		return err
	}
	return runConfigUnset(ctx, a, mcpPath(name))
}

// hasMCP is an error when the settings can be read, and name no such server.
func (a *app) hasMCP(ctx context.Context, name string) error {
	s, err := a.settings(ctx)
	if err != nil {
		return err
	}
	if _, ok, err := s.InUse(mcpPath(name)); err != nil || s.Valid && !ok {
		return &failure{exitFailure, "there is no MCP server " + line(name), "`hearth config get mcp.servers` shows those that are set up"}
	}
	return nil
}

func serveMCP(ctx context.Context, a *app) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite}})
	if err != nil {
		return err
	}
	defer c.Close()
	if a.InTerminal {
		fmt.Fprintln(a.Err, "This waits for a program that talks the Model Context Protocol; put `hearth mcp serve` into its list of "+
			"servers. Ctrl-C ends it.")
	}
	err = serve.Run(ctx, c, a.Version, io.NopCloser(a.In), open{a.Out})
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

// open is a stream that others do not close.
type open struct{ io.Writer }

func (open) Close() error { return nil }
