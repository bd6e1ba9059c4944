// Package tools is the feature of looking at the tools and using one by hand:
// tools.catalog, tools.effective and tools.invoke. It has no tool itself.
package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/mcp"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/tool/policy"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// Options are the parts that the feature needs; all of them.
type Options struct {
	Tools    *tool.Catalog
	Gate     *gate.Gate
	Direct   *gate.Direct
	Agents   *agents.Directory
	Settings *config.File
}

type feature struct{ o Options }

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{o}
	return host.Feature{Methods: []method.Method{
		method.Plain(protocol.MethodToolsCatalog, f.catalog),
		method.Plain(protocol.MethodToolsEffective, f.effective),
		method.Called(protocol.MethodToolsInvoke, f.invoke),
	}}
}

func (f *feature) catalog(_ context.Context, p protocol.ToolsCatalogParams) (protocol.ToolsCatalog, error) {
	out := protocol.ToolsCatalog{AgentID: cmp.Or(p.AgentID, f.o.Agents.Book().Default().ID)}
	for _, id := range policy.Profiles() {
		out.Profiles = append(out.Profiles, protocol.ToolsProfile{ID: id, Label: capital(id)})
	}
	var infos []protocol.ToolInfo
	for _, spec := range f.o.Tools.Tools().Specs() {
		info := toolInfo(spec)
		for _, profile := range policy.Profiles()[:3] {
			if policy.New(policy.Settings{Layer: policy.Layer{Profile: profile}}).Decide(spec.Name, tool.Scope{Owner: true}).Allowed {
				info.DefaultProfiles = append(info.DefaultProfiles, profile)
			}
		}
		infos = append(infos, info)
	}
	out.Groups = toolGroups(infos)
	return out, nil
}

// effective is what a message of the owner in a session could use.
func (f *feature) effective(_ context.Context, p protocol.ToolsEffectiveParams) (protocol.ToolsEffective, error) {
	scope, err := f.o.Direct.Scope(p.SessionKey, p.AgentID, "")
	if err != nil {
		return protocol.ToolsEffective{}, err
	}
	out := protocol.ToolsEffective{
		AgentID: scope.AgentID,
		Profile: cmp.Or(policy.Section.Of(f.o.Settings.Snapshot().Config).Profile, policy.ProfileFull), Denied: []protocol.ToolInfo{},
	}
	var allowed []protocol.ToolInfo
	for _, spec := range f.o.Tools.Tools().Specs() {
		info, d := toolInfo(spec), f.o.Gate.May(spec.Name, scope)
		info.Allowed, info.Why = &d.Allowed, d.Why
		if d.Allowed {
			allowed = append(allowed, info)
		} else {
			out.Denied = append(out.Denied, info)
		}
	}
	out.Groups = toolGroups(allowed)
	return out, nil
}

// invoke runs one tool as a run would: through the same policy, pause,
// approvals and audit log.
func (f *feature) invoke(ctx context.Context, c *server.Caller, p protocol.ToolsInvokeParams) (protocol.ToolsInvokeResult, error) {
	id := uuid.New()
	scope, err := f.o.Direct.Scope(p.SessionKey, p.AgentID, "invoke:"+id)
	if err != nil {
		return protocol.ToolsInvokeResult{}, err
	}
	scope.Sender = method.DeciderOf(c).ID
	if len(p.Args) == 0 {
		p.Args = []byte("{}")
	}
	out := protocol.ToolsInvokeResult{Name: p.Name, Source: "core"}
	tools := f.o.Tools.Tools()
	if _, ok := tools.Lookup(p.Name); !ok {
		out.Source, out.Error = "", &protocol.ToolFailure{Code: "not_found",
			Message: fmt.Sprintf("There is no tool called %q; `hearth tools` lists them.", p.Name)}
		return out, nil
	}
	res := tools.Before(f.o.Gate.Before).Run(ctx, scope, model.ToolCall{ID: id, Name: p.Name, Arguments: p.Args}, nil)
	out.Output = &protocol.ToolOutput{Content: protocol.TextBlocks(res.Text), Details: res.Details}
	if out.OK = !res.IsError; res.IsError {
		out.Error = &protocol.ToolFailure{Code: "failed", Message: res.Text}
	}
	return out, nil
}

func toolInfo(spec model.ToolSpec) protocol.ToolInfo {
	first, _, _ := strings.Cut(spec.Description, "\n")
	info := protocol.ToolInfo{ID: spec.Name, Label: spec.Name, Description: first, RawDescription: spec.Description, Source: "core",
		Parameters: spec.Schema}
	if strings.HasPrefix(spec.Name, mcp.Prefix) {
		info.Source = "mcp"
	}
	return info
}

// groupLabel is how people call a group.
func groupLabel(id string) string {
	switch id {
	case "fs":
		return "Files"
	case "runtime":
		return "Commands"
	case "sessions":
		return "Chats"
	case "mcp":
		return "MCP"
	}
	return capital(id)
}

// toolGroups puts tools into their groups, in the order of the names.
func toolGroups(infos []protocol.ToolInfo) []protocol.ToolsGroup {
	byID := map[string]*protocol.ToolsGroup{}
	var ids []string
	for _, info := range infos {
		id := strings.TrimPrefix(cmp.Or(policy.GroupOf(info.ID), "group:other"), "group:")
		if byID[id] == nil {
			byID[id] = &protocol.ToolsGroup{ID: id, Label: groupLabel(id), Source: "core"}
			ids = append(ids, id)
		}
		byID[id].Tools = append(byID[id].Tools, info)
	}
	slices.Sort(ids)
	out := []protocol.ToolsGroup{}
	for _, id := range ids {
		out = append(out, *byID[id])
	}
	return out
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
