package acp

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// modelOption is the setting of a session that editors offer.
const modelOption = "model"

// settings are what editors may set on a session: its model, in the form that
// editors have now.
func settings(m *sdk.SessionModelState) []sdk.SessionConfigOption {
	if m == nil {
		return nil
	}
	var list sdk.SessionConfigSelectOptionsUngrouped
	for _, one := range m.AvailableModels {
		list = append(list, sdk.SessionConfigSelectOption{Name: one.Name, Value: sdk.SessionConfigValueId(one.ModelId)})
	}
	category := sdk.SessionConfigOptionCategoryModel
	return []sdk.SessionConfigOption{{Select: &sdk.SessionConfigOptionSelect{
		Type: "select", Id: modelOption, Name: "Model", Category: &category, CurrentValue: sdk.SessionConfigValueId(m.CurrentModelId),
		Options: sdk.SessionConfigSelectOptions{Ungrouped: &list},
	}}}
}

// SetSessionConfigOption implements sdk.Agent: it chooses a session's model.
func (a *Agent) SetSessionConfigOption(ctx context.Context, p sdk.SetSessionConfigOptionRequest) (none sdk.SetSessionConfigOptionResponse,
	err error) {
	v := p.ValueId
	switch {
	case v == nil || v.ConfigId != modelOption:
		return none, sdk.NewInvalidParams("the one option of a session is its model")
	case !a.has(v.SessionId):
		return none, sdk.NewInvalidParams(fmt.Sprintf("there is no session %s", v.SessionId))
	}
	if err := a.choose(ctx, v.SessionId, string(v.Value)); err != nil {
		return none, err
	}
	out := settings(a.models(ctx, string(v.Value)))
	if out == nil {
		out = []sdk.SessionConfigOption{}
	}
	return sdk.SetSessionConfigOptionResponse{ConfigOptions: out}, nil
}

func (a *Agent) choose(ctx context.Context, id sdk.SessionId, model string) error {
	var res protocol.SessionsPatchResult
	return a.gateway.Call(ctx, protocol.MethodSessionsPatch, protocol.SessionsPatchParams{Key: string(id), Model: protocol.PatchTo(model)},
		&res)
}

// folder checks the working folder that an editor names.
func folder(cwd string) (string, error) {
	if !filepath.IsAbs(cwd) || strings.ContainsFunc(cwd, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", sdk.NewInvalidParams(fmt.Sprintf("cwd must be an absolute path, and %q is none", cwd))
	}
	return filepath.Clean(cwd), nil
}

// settle keeps the folder of a session in the gateway, once a message makes the
// session one that lists show.
func (a *Agent) settle(ctx context.Context, id sdk.SessionId) (dir string) {
	a.mu.Lock()
	dir, kept := a.folders[id], a.kept[id]
	a.kept[id] = dir
	a.mu.Unlock()
	if dir != "" && dir != kept {
		var res protocol.SessionsPatchResult
		_ = a.gateway.Call(ctx, protocol.MethodSessionsPatch, protocol.SessionsPatchParams{Key: string(id), Folder: protocol.PatchTo(dir)}, &res)
	}
	return dir
}

// inFolder tells the model where the person at the editor works: what it runs and
// reads there, it names by whole paths or with workdir.
func inFolder(dir, text string) string {
	if dir == "" || strings.HasPrefix(text, "/") { // a command stays one
		return text
	}
	return "[Working directory: " + dir + "]\n\n" + text
}

// withoutFolder is what the person wrote, without what inFolder put before it.
func withoutFolder(text string) string {
	if rest, ok := strings.CutPrefix(text, "[Working directory: "); ok {
		if _, after, ok := strings.Cut(rest, "]"); ok {
			return strings.TrimSpace(after)
		}
	}
	return text
}

// offer tells the editor which commands there are.
func (a *Agent) offer(ctx context.Context, id sdk.SessionId) {
	var list protocol.CommandsList
	if a.gateway.Call(ctx, protocol.MethodCommandsList, struct{}{}, &list) != nil || len(list.Commands) == 0 {
		return
	}
	all := []sdk.AvailableCommand{}
	for _, c := range list.Commands {
		one := sdk.AvailableCommand{Name: c.Name, Description: c.Description}
		if c.AcceptsArgs {
			one.Input = &sdk.AvailableCommandInput{Unstructured: &sdk.UnstructuredCommandInput{Hint: "…"}}
		}
		all = append(all, one)
	}
	_ = a.editor().SessionUpdate(ctx, sdk.SessionNotification{SessionId: id, Update: sdk.SessionUpdate{
		AvailableCommandsUpdate: &sdk.SessionAvailableCommandsUpdate{SessionUpdate: "available_commands_update", AvailableCommands: all},
	}})
}
