package gateway

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

// codeRun runs a person's program by the rules of a model's: the same engine
// and limits, and each call of it through policy, pause, approvals and audit.
// It does so whether or not the agent's model works in code mode.
func (g *Gateway) codeRun(ctx context.Context, c *server.Caller, p protocol.CodeRunParams) (protocol.CodeRunResult, error) {
	id := newUUID()
	scope, err := g.direct.Scope(p.SessionKey, p.AgentID, "code:"+id)
	if err != nil {
		return protocol.CodeRunResult{}, err
	}
	scope.Sender = method.DeciderOf(c).ID
	in := codemode.Input{Code: p.Code, Language: p.Language}
	args, err := json.Marshal(in)
	if err != nil {
		return protocol.CodeRunResult{}, err
	}
	if err := g.beforeProgram(ctx, codemode.Exec, tool.Call{Scope: scope, ID: id, Args: args}); err != nil {
		return protocol.CodeRunResult{}, protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	var heard func(codemode.Output)
	if seq := 0; p.RunID != "" {
		heard = func(o codemode.Output) {
			g.server.Broadcast(server.Broadcast{Event: protocol.EventCodeOutput, Payload: protocol.CodeOutputEvent{RunID: p.RunID, Seq: seq, Output: protocol.CodeOutput(o)}})
			seq++
		}
	}
	tools := g.toolSet().Only(func(name string) bool { return g.toolGate.May(name, scope).Allowed }).Before(g.toolGate.Before)
	began := g.opts.Now()
	res, err := g.programs.RunToEnd(ctx, codeSettings(g.config.Snapshot().Config.Tools.CodeMode), scope, tools, toolOrigin, in, nil, heard)
	if err != nil {
		return protocol.CodeRunResult{}, err
	}
	return codeResult(res, g.opts.Now().Sub(began).Milliseconds())
}

// codeResult is what became of a program, as clients read it.
func codeResult(res codemode.Result, tookMs int64) (protocol.CodeRunResult, error) {
	out := protocol.CodeRunResult{
		Status: res.Status, Value: res.Value, Error: res.Error, Code: string(res.Code), Line: res.Line, Column: res.Column, TookMs: cmp.Or(tookMs, 1),
	}
	for _, o := range res.Output {
		out.Output = append(out.Output, protocol.CodeOutput(o))
	}
	var err error
	out.Telemetry, err = json.Marshal(res.Telemetry)
	return out, err
}
