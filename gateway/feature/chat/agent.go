package chat

import (
	"context"
	"errors"
	"time"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
)

const (
	defaultWait = 30 * time.Second
	maxWait     = 10 * time.Minute
)

// agent runs one turn and answers twice: accepted, then how it ended.
func (f *feature) agent(ctx context.Context, p protocol.AgentParams) (server.Later, error) {
	turn, err := f.o.Dispatch.Turn(protocol.MethodAgent, p.SessionKey, p.AgentID, p.Message, p.IdempotencyKey, p.Timeout*1000)
	if err != nil {
		return server.Later{}, err
	}
	turn.Expected.SessionID = p.ExpectedExistingSessionID
	if turn.Model = p.Model; p.Model != "" {
		if err := f.o.Choice.Check(p.Model); err != nil {
			return server.Later{}, protocol.InvalidParams(protocol.MethodAgent, "%v", err)
		}
	}
	acc, err := f.o.Dispatch.Accept(ctx, turn)
	if errors.Is(err, session.ErrChanged) {
		err = method.Changed("Session %q changed while starting expected work. Retry.", p.SessionKey)
	}
	if err != nil {
		return server.Later{}, err
	}
	return server.Later{
		First: protocol.AgentAccepted{
			RunID: acc.Run.ID, SessionKey: acc.Run.SessionKey, AgentID: session.AgentOf(acc.Run.SessionKey),
			Status: "accepted", AcceptedAt: acc.Run.AcceptedAt,
		},
		Final: func(ctx context.Context) (any, error) {
			out, err := f.o.Sessions.Wait(ctx, acc.Run.ID)
			if err != nil {
				return nil, method.ForClients(protocol.MethodAgent, err)
			}
			return out.Wire(), nil
		},
	}, nil
}

func (f *feature) agentWait(ctx context.Context, p protocol.AgentWaitParams) (protocol.AgentWaitResult, error) {
	wait := time.Duration(p.TimeoutMs) * time.Millisecond
	switch {
	case p.RunID == "":
		return protocol.AgentWaitResult{}, protocol.InvalidParams(protocol.MethodAgentWait, "runId is missing")
	case wait <= 0:
		wait = defaultWait
	}
	ctx, cancel := context.WithTimeout(ctx, min(wait, maxWait))
	defer cancel()
	out, err := f.o.Sessions.Wait(ctx, p.RunID)
	if errors.Is(err, context.DeadlineExceeded) {
		return protocol.AgentWaitResult{RunID: p.RunID, Status: "timeout"}, nil
	}
	if err != nil {
		return protocol.AgentWaitResult{}, err
	}
	res := protocol.AgentWaitResult{RunID: p.RunID, Status: "ok", StartedAt: out.Run.StartedAt, EndedAt: out.Run.EndedAt}
	if out.Run.State != session.RunAnswered {
		res.Status, res.Error = "error", out.Run.ErrorText
		if res.Error == "" {
			res.Error = string(out.Run.State)
		}
	}
	return res, nil
}
