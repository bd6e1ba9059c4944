package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func (g *Gateway) mcpList(context.Context, none) (protocol.MCPServers, error) {
	out := protocol.MCPServers{Servers: []protocol.MCPServer{}}
	for _, s := range g.mcp.Status() {
		out.Servers = append(out.Servers, mcpOnWire(s))
	}
	return out, nil
}

// mcpTest starts a server anew and tells how that went.
func (g *Gateway) mcpTest(ctx context.Context, p protocol.MCPServerParams) (protocol.MCPServer, error) {
	if err := g.mcp.Restart(p.ID); err != nil {
		return protocol.MCPServer{}, protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	}
	s, err := g.mcp.Settled(ctx, p.ID)
	return mcpOnWire(s), err
}

func mcpOnWire(s mcp.Status) protocol.MCPServer {
	out := protocol.MCPServer{
		ID: s.ID, State: string(s.State), Problem: s.Problem, Name: s.Name, Version: s.Version, Tools: []protocol.MCPTool{},
		Skipped: s.Skipped, Restarts: s.Restarts, Since: s.Since.UnixMilli(),
	}
	for _, t := range s.Tools {
		out.Tools = append(out.Tools, protocol.MCPTool{Name: t.Name, Own: t.Own, Description: t.Description, Changed: t.Changed})
	}
	return out
}
