package codemode

import (
	"context"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/codemode/typescript"
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

// Readable says what is wrong with the text of a program, nil when it can be begun.
func (c *CodeMode) Readable(ctx context.Context, code string) error {
	if c == nil {
		return errors.New("programs are switched off here (features.codemode)")
	}
	if line, column := typescript.Mistake(ctx, code); line > 0 {
		return fmt.Errorf("its text is no JavaScript from line %d, column %d on", line, column)
	}
	if _, _, bad := workbench.Prepare(ctx, code, ""); bad != nil {
		return bad
	}
	return nil
}
