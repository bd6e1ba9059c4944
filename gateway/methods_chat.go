package gateway

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
)

const (
	defaultWait = 30 * time.Second
	maxWait     = 10 * time.Minute
)

func (g *Gateway) chatSend(ctx context.Context, p protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	if len(p.Attachments) > 0 && strings.TrimSpace(p.Message) == "" {
		p.Message = "(a picture)"
	}
	turn, err := g.dispatch.Turn(protocol.MethodChatSend, p.SessionKey, p.AgentID, p.Message, p.IdempotencyKey, p.TimeoutMs)
	if err != nil {
		return protocol.ChatSendResult{}, err
	}
	turn.Expected = expectedSend(p)
	turn.Mode, turn.AwaitModel = session.Mode(p.QueueMode), p.AwaitModel
	if err := (session.QueueOverride{Mode: turn.Mode}).Check(); err != nil {
		return protocol.ChatSendResult{}, protocol.InvalidParams(protocol.MethodChatSend, "%v", err)
	}
	if len(p.Attachments) > 0 {
		if turn.Pictures, err = g.dispatch.Pictures(ctx, turn, p.Attachments); err != nil {
			return protocol.ChatSendResult{}, err
		}
		if turn.Mode == "" || turn.Mode == session.Steer {
			turn.Mode = session.Followup // only words can be let into a running answer
		}
	}
	acc, err := g.dispatch.Accept(ctx, turn)
	if err != nil {
		return protocol.ChatSendResult{}, unexpectedSend(err, p)
	}
	res := protocol.ChatSendResult{RunID: acc.Run.ID, Status: protocol.SendStarted}
	if acc.Duplicate {
		res.Status = protocol.SendOK
		if acc.Live {
			res.Status = protocol.SendInFlight
		}
	}
	return res, nil
}

func (g *Gateway) chatHistory(ctx context.Context, p protocol.ChatHistoryParams) (protocol.ChatHistory, error) {
	key, err := g.agents.Canonical(p.SessionKey, p.AgentID)
	if err != nil {
		return protocol.ChatHistory{}, err
	}
	return g.session.History(ctx, key, p)
}

func (g *Gateway) chatMetadata(ctx context.Context, p protocol.ChatMetadataParams) (protocol.ChatMetadata, error) {
	if p.SessionKey != "" {
		if _, err := g.agents.Canonical(p.SessionKey, p.AgentID); err != nil {
			return protocol.ChatMetadata{}, err
		}
	}
	models, err := g.modelsList(ctx, protocol.ModelsListParams{})
	if err != nil {
		return protocol.ChatMetadata{}, err
	}
	commands, err := g.commandsList(ctx, method.None{})
	return protocol.ChatMetadata{Models: models.Models, Commands: commands.Commands}, err
}

func (g *Gateway) chatAbort(ctx context.Context, p protocol.ChatAbortParams) (protocol.ChatAbortResult, error) {
	key, err := g.agents.Canonical(p.SessionKey, p.AgentID)
	if err != nil {
		return protocol.ChatAbortResult{}, err
	}
	ids, err := g.session.Abort(ctx, key, p.RunID)
	if ids == nil {
		ids = []string{}
	}
	return protocol.ChatAbortResult{OK: true, Aborted: len(ids) > 0, RunIDs: ids}, err
}

func (g *Gateway) chatInject(ctx context.Context, p protocol.ChatInjectParams) (protocol.ChatInjectResult, error) {
	key, err := g.agents.Canonical(p.SessionKey, p.AgentID)
	switch {
	case err != nil:
		return protocol.ChatInjectResult{}, err
	case strings.TrimSpace(p.Message) == "" || len(p.Message) > protocol.MaxMessageText:
		return protocol.ChatInjectResult{}, protocol.InvalidParams(protocol.MethodChatInject, "message must have 1 to %d bytes", protocol.MaxMessageText)
	case len(p.Label) > 100:
		return protocol.ChatInjectResult{}, protocol.InvalidParams(protocol.MethodChatInject, "label has %d bytes, at most 100 are allowed", len(p.Label))
	}
	msg, err := g.session.Inject(ctx, key, p.Message, p.Label)
	if err != nil {
		return protocol.ChatInjectResult{}, err
	}
	return protocol.ChatInjectResult{OK: true, MessageID: msg.Meta.ID}, nil
}

// agent runs one turn and answers twice: accepted, then how it ended.
func (g *Gateway) agent(ctx context.Context, p protocol.AgentParams) (server.Later, error) {
	turn, err := g.dispatch.Turn(protocol.MethodAgent, p.SessionKey, p.AgentID, p.Message, p.IdempotencyKey, p.Timeout*1000)
	if err != nil {
		return server.Later{}, err
	}
	turn.Expected.SessionID = p.ExpectedExistingSessionID
	if turn.Model = p.Model; p.Model != "" {
		if err := g.choice.Check(p.Model); err != nil {
			return server.Later{}, protocol.InvalidParams(protocol.MethodAgent, "%v", err)
		}
	}
	acc, err := g.dispatch.Accept(ctx, turn)
	if errors.Is(err, session.ErrChanged) {
		err = changedError("Session %q changed while starting expected work. Retry.", p.SessionKey)
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
			out, err := g.session.Wait(ctx, acc.Run.ID)
			if err != nil {
				return nil, method.ForClients(protocol.MethodAgent, err)
			}
			return agentResult(out), nil
		},
	}, nil
}

func agentResult(out session.Outcome) protocol.AgentResult {
	ref, _ := model.ParseRef(out.Run.AnsweredBy)
	res := protocol.AgentResult{RunID: out.Run.ID, Status: "ok", Summary: "completed", Result: protocol.AgentPayload{
		Payloads: []protocol.AgentText{},
		Meta: protocol.AgentMeta{
			DurationMs: out.Run.EndedAt - out.Run.StartedAt,
			AgentMeta:  protocol.AgentModelMeta{SessionID: out.Run.SessionID, Provider: ref.Provider, Model: ref.Model},
		},
	}}
	if out.Message != nil {
		res.Result.Payloads = append(res.Result.Payloads, protocol.AgentText{Text: out.Message.Text()})
		res.Result.Meta.AgentMeta.Usage = out.Message.Usage
	}
	if out.Run.State != session.RunAnswered {
		res.Status, res.Summary = "error", out.Run.ErrorText
		if res.Summary == "" {
			res.Summary = string(out.Run.State)
		}
	}
	return res
}

func (g *Gateway) agentWait(ctx context.Context, p protocol.AgentWaitParams) (protocol.AgentWaitResult, error) {
	wait := time.Duration(p.TimeoutMs) * time.Millisecond
	switch {
	case p.RunID == "":
		return protocol.AgentWaitResult{}, protocol.InvalidParams(protocol.MethodAgentWait, "runId is missing")
	case wait <= 0:
		wait = defaultWait
	}
	ctx, cancel := context.WithTimeout(ctx, min(wait, maxWait))
	defer cancel()
	out, err := g.session.Wait(ctx, p.RunID)
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
