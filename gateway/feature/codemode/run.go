package codemode

import (
	"context"
	"encoding/json"

	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/codemode/workbench"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// run runs a person's program by the rules of a model's: the same engine
// and limits, and each call of it through policy, pause, approvals and audit.
// It does so whether or not the agent's model works in code mode.
func (c *CodeMode) run(ctx context.Context, caller *server.Caller, p protocol.CodeRunParams) (protocol.CodeRunResult, error) {
	id := uuid.New()
	scope, err := c.o.Direct.Scope(p.SessionKey, p.AgentID, "code:"+id)
	if err != nil {
		return protocol.CodeRunResult{}, err
	}
	scope.Sender = method.DeciderOf(caller).ID
	in := codemode.Input{Code: p.Code, Language: p.Language}
	args, err := json.Marshal(in)
	if err != nil {
		return protocol.CodeRunResult{}, err
	}
	if err := c.o.Gate.BeforeProgram(ctx, codemode.Exec, tool.Call{Scope: scope, ID: id, Args: args}); err != nil {
		return protocol.CodeRunResult{}, protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	var heard func(codemode.Output)
	if seq := 0; p.RunID != "" {
		heard = func(o codemode.Output) {
			c.o.Clients.Broadcast(server.Broadcast{Event: protocol.EventCodeOutput, Payload: protocol.CodeOutputEvent{RunID: p.RunID, Seq: seq,
				Output: protocol.CodeOutput(o)}})
			seq++
		}
	}
	tools := c.o.Tools.Tools().Only(func(name string) bool { return c.o.Gate.May(name, scope).Allowed }).Before(c.o.Gate.Before)
	began := c.o.Now()
	res, err := c.programs.RunToEnd(ctx, c.settings(), scope, tools, workbench.Origin, in, nil, heard)
	if err != nil {
		return protocol.CodeRunResult{}, err
	}
	return workbench.Result(res, c.o.Now().Sub(began).Milliseconds())
}
