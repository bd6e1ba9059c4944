package chat

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

func (f *feature) send(ctx context.Context, p protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	if len(p.Attachments) > 0 && strings.TrimSpace(p.Message) == "" {
		p.Message = "(a picture)"
	}
	turn, err := f.o.Dispatch.Turn(protocol.MethodChatSend, p.SessionKey, p.AgentID, p.Message, p.IdempotencyKey, p.TimeoutMs)
	if err != nil {
		return protocol.ChatSendResult{}, err
	}
	turn.Expected = expectedSend(p)
	turn.Mode, turn.AwaitModel = session.Mode(p.QueueMode), p.AwaitModel
	if err := (session.QueueOverride{Mode: turn.Mode}).Check(); err != nil {
		return protocol.ChatSendResult{}, protocol.InvalidParams(protocol.MethodChatSend, "%v", err)
	}
	if len(p.Attachments) > 0 {
		if turn.Pictures, err = f.o.Dispatch.Pictures(ctx, turn, p.Attachments); err != nil {
			return protocol.ChatSendResult{}, err
		}
		if turn.Mode == "" || turn.Mode == session.Steer {
			turn.Mode = session.Followup // only words can be let into a running answer
		}
	}
	acc, err := f.o.Dispatch.Accept(ctx, turn)
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

func expectedSend(p protocol.ChatSendParams) session.Expected {
	return session.Expected{
		SessionID: cmp.Or(p.ExpectedSessionID, p.SessionID), OrNone: p.ExpectedSessionID == "",
		Unknown: method.AnySet(p.ExpectedPermissionMode, p.ExpectedToolOverrides),
	}
}

func unexpectedSend(err error, p protocol.ChatSendParams) error {
	switch {
	case !errors.Is(err, session.ErrChanged):
		return err
	case method.AnySet(p.ExpectedPermissionMode, p.ExpectedToolOverrides):
		return protocol.Invalid("Session settings changed before send. Retry.").With("reason", "session-settings-changed")
	}
	return method.Changed("Session %q changed while starting work. Retry.", p.SessionKey)
}
