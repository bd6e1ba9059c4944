package codemode

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/codemode/workbench"
)

// RunScript runs a program that the owner wrote ahead, by the rules of every other
// one: the same engine and limits, and each call of it through policy, pause,
// approvals and audit. Of the tools of MCP servers it has those that brought says
// yes to.
func (c *CodeMode) RunScript(ctx context.Context, s codemode.Script, brought func(name string) bool) (codemode.Result, error) {
	if c == nil {
		return codemode.Result{}, errors.New("programs are switched off here (features.codemode)")
	}
	tools := c.o.Tools.Tools().Only(func(name string) bool {
		return c.o.Gate.May(name, s.Scope).Allowed && (workbench.Origin(name).Source != codemode.SourceMCP || brought(name))
	})
	return c.programs.RunScript(ctx, c.settings(), s, tools, workbench.Origin, c.o.Gate.Before)
}
