package skills

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/skill"
	"github.com/hearth-assistant/hearth/gateway/skill/catalog"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// Calls are what the slash commands of skills go through.
type Calls struct {
	Dispatch *dispatch.Dispatcher
	Gate     *gate.Gate
	Tools    *tool.Catalog // a skill may name those of our own
}

// calls finds and runs the skills that a slash calls.
type calls struct {
	Calls
	catalog *catalog.Catalog
	audit   *audit.Log
}

// Commands implements dispatch.Skills.
func (c calls) Commands() []skill.Command { return c.commands(c.catalog.OfAgent("")) }

func (c calls) commands(list []skill.Status) []skill.Command {
	return skill.Commands(list, func(name string) bool {
		_, taken := c.Dispatch.Commands().Parse("/" + name)
		return taken
	})
}

// Called implements dispatch.Skills.
func (c calls) Called(scope tool.Scope, name string) (skill.Command, bool) {
	for _, one := range c.commands(c.catalog.Of(scope.SessionKey, scope.SessionID, scope.Workspace).Skills) {
		if one.Name == strings.ReplaceAll(name, "-", "_") {
			return one, true
		}
	}
	return skill.Command{}, false
}

// Run implements dispatch.Skills. The call passes what a model's passes.
func (c calls) Run(ctx context.Context, scope tool.Scope, sk skill.Status, name, args string) (string, error) {
	raw, err := json.Marshal(map[string]string{"command": args, "commandName": name, "skillName": sk.Name})
	if err != nil {
		return "", err
	}
	c.audit.Add(audit.Entry{
		Kind: audit.KindTool, What: "was called by the skill " + sk.Name, Who: scope.Surface + ":" + scope.Sender, Session: scope.SessionKey,
		Run: scope.RunID,
	})
	call := model.ToolCall{ID: uuid.New(), Name: sk.DispatchTool, Arguments: raw}
	res := c.Tools.Own().Before(c.Gate.Before).Run(ctx, scope, call, nil)
	if res.IsError {
		return "The skill " + sk.Name + " could not do it: " + res.Text, nil
	}
	return res.Text, nil
}
