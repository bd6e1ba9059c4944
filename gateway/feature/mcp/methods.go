package mcp

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
	"github.com/hearth-assistant/hearth/internal/text"
)

func (f *Servers) methods() []method.Method {
	return []method.Method{
		method.Plain(protocol.MethodMCPList, f.list),
		method.Plain(protocol.MethodMCPTest, f.test),
		method.Plain(protocol.MethodMCPLogin, f.login),
		method.Plain(protocol.MethodMCPLoginWait, f.loginWait),
		method.Plain(protocol.MethodMCPLogout, f.logout),
		method.Plain(protocol.MethodMCPResources, f.resources),
		method.Plain(protocol.MethodMCPRead, f.read),
		method.Plain(protocol.MethodMCPPrompts, f.prompts),
		method.Plain(protocol.MethodMCPPrompt, f.prompt),
	}
}

func (f *Servers) list(ctx context.Context, _ method.None) (protocol.MCPServers, error) {
	out := protocol.MCPServers{Servers: []protocol.MCPServer{}}
	servers := Section.Of(f.o.Settings.Snapshot().Config).Servers
	for _, s := range f.hub.Status() {
		row := onWire(s)
		row.LoggedIn, row.Service = f.loggedIn(ctx, s.ID), servers[s.ID].URL != ""
		out.Servers = append(out.Servers, row)
	}
	for id, s := range servers {
		if !s.Enabled {
			out.Servers = append(out.Servers, protocol.MCPServer{ID: id, State: "off", Tools: []protocol.MCPTool{}, LoggedIn: f.loggedIn(ctx, id),
				Service: s.URL != ""})
		}
	}
	slices.SortStableFunc(out.Servers, func(a, b protocol.MCPServer) int { return cmp.Compare(a.ID, b.ID) })
	// One that was just turned off may still be there too.
	out.Servers = slices.CompactFunc(out.Servers, func(a, b protocol.MCPServer) bool { return a.ID == b.ID })
	return out, nil
}

// test starts a server anew and tells how that went.
func (f *Servers) test(ctx context.Context, p protocol.MCPServerParams) (protocol.MCPServer, error) {
	if err := f.hub.Restart(p.ID); err != nil {
		return protocol.MCPServer{}, f.errorOf(p.ID, err)
	}
	s, err := f.hub.Settled(ctx, p.ID)
	out := onWire(s)
	if set, ok := Section.Of(f.o.Settings.Snapshot().Config).Servers[p.ID]; ok {
		if srv := f.server(p.ID, set); srv.Confined {
			out.Reads, out.Writes = append(named.Paths(statedir.Home(f.o.Env), srv.Dir, srv.Command, srv.Args), srv.Read...), srv.Write
		}
	}
	return out, err
}

func onWire(s mcp.Status) protocol.MCPServer {
	out := protocol.MCPServer{
		ID: s.ID, State: string(s.State), Problem: s.Problem, Name: s.Name, Version: s.Version, Tools: []protocol.MCPTool{},
		Skipped: s.Skipped, Noise: s.Noise.Words(), Restarts: s.Restarts, Since: s.Since.UnixMilli(), Login: s.Login,
	}
	for _, t := range s.Tools {
		out.Tools = append(out.Tools, protocol.MCPTool{Name: t.Name, Own: t.Own, Description: t.Description, Changed: t.Changed})
	}
	return out
}

// errorOf is an error of a server as clients get it.
func (f *Servers) errorOf(id string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, mcp.ErrUnknown) && f.isOff(id):
		return protocol.Invalid("The MCP server %s is off. `hearth mcp enable %s` switches it on.", id, text.ShellWord(id)).With("code", "OFF")
	case errors.Is(err, mcp.ErrUnknown):
		return protocol.Invalid("%s", protocol.Sentence(err.Error())).With("code", "NOT_FOUND")
	}
	if errors.Is(err, mcp.ErrSaid) { // it will not get better by waiting
		return protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	return protocol.Unavailable(0, "%s", protocol.Sentence(err.Error()))
}

// isOff: somebody set the server up, and switched it off.
func (f *Servers) isOff(id string) bool {
	set, ok := Section.Of(f.o.Settings.Snapshot().Config).Servers[id]
	return ok && !set.Enabled
}

func (f *Servers) resources(ctx context.Context, p protocol.MCPServerParams) (protocol.MCPResources, error) {
	list, err := f.hub.Resources(ctx, p.ID)
	out := protocol.MCPResources{Resources: []protocol.MCPResource{}, More: list.More}
	for _, r := range list.List {
		out.Resources = append(out.Resources, protocol.MCPResource(r))
	}
	return out, f.errorOf(p.ID, err)
}

func (f *Servers) read(ctx context.Context, p protocol.MCPReadParams) (protocol.MCPText, error) {
	text, err := f.hub.ReadResource(ctx, p.ID, p.URI)
	return protocol.MCPText{Text: f.o.Redactor.Text(text)}, f.errorOf(p.ID, err)
}

func (f *Servers) prompts(ctx context.Context, p protocol.MCPServerParams) (protocol.MCPPrompts, error) {
	list, err := f.hub.Prompts(ctx, p.ID)
	out := protocol.MCPPrompts{Prompts: []protocol.MCPPrompt{}}
	for _, one := range list {
		row := protocol.MCPPrompt{Name: one.Name, Description: one.Description, Arguments: []protocol.MCPArgument{}}
		for _, a := range one.Arguments {
			row.Arguments = append(row.Arguments, protocol.MCPArgument(a))
		}
		out.Prompts = append(out.Prompts, row)
	}
	return out, f.errorOf(p.ID, err)
}

func (f *Servers) prompt(ctx context.Context, p protocol.MCPPromptParams) (protocol.MCPText, error) {
	text, err := f.hub.Prompt(ctx, p.ID, p.Name, p.Arguments)
	return protocol.MCPText{Text: f.o.Redactor.Text(text)}, f.errorOf(p.ID, err)
}
