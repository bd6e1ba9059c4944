package gateway

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/mcp/named"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// mcpMethods are about MCP servers.
func (g *Gateway) mcpMethods() []method.Method {
	return []method.Method{
		method.Plain(protocol.MethodMCPList, g.mcpList),
		method.Plain(protocol.MethodMCPTest, g.mcpTest),
		method.Plain(protocol.MethodMCPLogin, g.mcpLogin),
		method.Plain(protocol.MethodMCPLoginWait, g.mcpLoginWait),
		method.Plain(protocol.MethodMCPLogout, g.mcpLogout),
		method.Plain(protocol.MethodMCPResources, g.mcpResources),
		method.Plain(protocol.MethodMCPRead, g.mcpRead),
		method.Plain(protocol.MethodMCPPrompts, g.mcpPrompts),
		method.Plain(protocol.MethodMCPPrompt, g.mcpPrompt),
	}
}

func (g *Gateway) mcpList(ctx context.Context, _ method.None) (protocol.MCPServers, error) {
	out := protocol.MCPServers{Servers: []protocol.MCPServer{}}
	servers := g.config.Snapshot().Config.MCP.Servers
	for _, s := range g.mcp.Status() {
		row := mcpOnWire(s)
		row.LoggedIn, row.Service = g.mcpLoggedIn(ctx, s.ID), servers[s.ID].URL != ""
		out.Servers = append(out.Servers, row)
	}
	for id, s := range servers {
		if !s.Enabled {
			out.Servers = append(out.Servers, protocol.MCPServer{ID: id, State: "off", Tools: []protocol.MCPTool{}, LoggedIn: g.mcpLoggedIn(ctx, id), Service: s.URL != ""})
		}
	}
	slices.SortStableFunc(out.Servers, func(a, b protocol.MCPServer) int { return cmp.Compare(a.ID, b.ID) })
	// One that was just turned off may still be there too.
	out.Servers = slices.CompactFunc(out.Servers, func(a, b protocol.MCPServer) bool { return a.ID == b.ID })
	return out, nil
}

// mcpTest starts a server anew and tells how that went.
func (g *Gateway) mcpTest(ctx context.Context, p protocol.MCPServerParams) (protocol.MCPServer, error) {
	if err := g.mcp.Restart(p.ID); err != nil {
		return protocol.MCPServer{}, protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	}
	s, err := g.mcp.Settled(ctx, p.ID)
	out := mcpOnWire(s)
	if set, ok := g.config.Snapshot().Config.MCP.Servers[p.ID]; ok {
		if srv := g.mcpServer(p.ID, set); srv.Confined {
			out.Reads, out.Writes = append(named.Paths(statedir.Home(g.opts.Env), srv.Dir, srv.Command, srv.Args), srv.Read...), srv.Write
		}
	}
	return out, err
}

func mcpOnWire(s mcp.Status) protocol.MCPServer {
	out := protocol.MCPServer{
		ID: s.ID, State: string(s.State), Problem: s.Problem, Name: s.Name, Version: s.Version, Tools: []protocol.MCPTool{},
		Skipped: s.Skipped, Noise: s.Noise.Words(), Restarts: s.Restarts, Since: s.Since.UnixMilli(), Login: s.Login,
	}
	for _, t := range s.Tools {
		out.Tools = append(out.Tools, protocol.MCPTool{Name: t.Name, Own: t.Own, Description: t.Description, Changed: t.Changed})
	}
	return out
}

// mcpError is an error of a server as clients get it.
func mcpError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, mcp.ErrUnknown):
		return protocol.Invalid("%s", protocol.Sentence(err.Error())).With("code", "NOT_FOUND")
	}
	if errors.Is(err, mcp.ErrSaid) { // it will not get better by waiting
		return protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	return protocol.Unavailable(0, "%s", protocol.Sentence(err.Error()))
}

func (g *Gateway) mcpResources(ctx context.Context, p protocol.MCPServerParams) (protocol.MCPResources, error) {
	list, err := g.mcp.Resources(ctx, p.ID)
	out := protocol.MCPResources{Resources: []protocol.MCPResource{}, More: list.More}
	for _, r := range list.List {
		out.Resources = append(out.Resources, protocol.MCPResource(r))
	}
	return out, mcpError(err)
}

func (g *Gateway) mcpRead(ctx context.Context, p protocol.MCPReadParams) (protocol.MCPText, error) {
	text, err := g.mcp.ReadResource(ctx, p.ID, p.URI)
	return protocol.MCPText{Text: g.redactor.Text(text)}, mcpError(err)
}

func (g *Gateway) mcpPrompts(ctx context.Context, p protocol.MCPServerParams) (protocol.MCPPrompts, error) {
	list, err := g.mcp.Prompts(ctx, p.ID)
	out := protocol.MCPPrompts{Prompts: []protocol.MCPPrompt{}}
	for _, one := range list {
		row := protocol.MCPPrompt{Name: one.Name, Description: one.Description, Arguments: []protocol.MCPArgument{}}
		for _, a := range one.Arguments {
			row.Arguments = append(row.Arguments, protocol.MCPArgument(a))
		}
		out.Prompts = append(out.Prompts, row)
	}
	return out, mcpError(err)
}

func (g *Gateway) mcpPrompt(ctx context.Context, p protocol.MCPPromptParams) (protocol.MCPText, error) {
	text, err := g.mcp.Prompt(ctx, p.ID, p.Name, p.Arguments)
	return protocol.MCPText{Text: g.redactor.Text(text)}, mcpError(err)
}
