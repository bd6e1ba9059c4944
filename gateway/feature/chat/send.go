package chat

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

func (f *feature) send(ctx context.Context, p protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	if len(p.Attachments) > 0 && strings.TrimSpace(p.Message) == "" {
		p.Message = "(a picture)"
		if p.Attachments[0].Upload != "" || p.Attachments[0].Type == "file" {
			p.Message = "(a file)"
		}
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
	turn.Follows = true
	if p.Deliver {
		if turn.Deliver, err = f.deliverTo(turn.SessionKey, p.DeliverTo); err != nil {
			return protocol.ChatSendResult{}, err
		}
	}
	if len(p.Attachments) > 0 {
		if turn.Pictures, err = f.o.Dispatch.Attach(ctx, turn, p.Attachments); err != nil {
			// Uploads are gone once their message was accepted, and who did not hear of that
			// sends it again.
			if run, known := f.o.Sessions.Why(turn.SessionKey, turn.RunID); known == nil && run.SessionKey == turn.SessionKey {
				return sent(session.Accepted{Run: run, Duplicate: true, Live: !run.State.Ended()}), nil
			}
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
	f.o.Dispatch.Attached(p.Attachments)
	res := sent(acc)
	for _, b := range turn.Pictures {
		if b.File != nil {
			res.Files = append(res.Files, *b.File)
		}
	}
	return res, nil
}

func sent(acc session.Accepted) protocol.ChatSendResult {
	res := protocol.ChatSendResult{RunID: acc.Run.ID, Status: protocol.SendStarted}
	if acc.Duplicate {
		res.Status = protocol.SendOK
		if acc.Live {
			res.Status = protocol.SendInFlight
		}
	}
	return res
}

// deliverTo is the route to where a session's answers are delivered. Whoever meant
// another place than that is told, and nothing is sent: who reads an answer is not to
// depend on who wrote last.
func (f *feature) deliverTo(key string, meant *protocol.DeliveryContext) (string, error) {
	row, _, err := f.o.Sessions.Get(key)
	if err != nil {
		return "", err
	}
	at := row.DeliveryContext
	if at == nil {
		return "", protocol.Invalid("nobody wrote from a messaging network in this conversation yet, so there is nowhere to answer")
	}
	if meant != nil && *meant != *at {
		return "", protocol.Invalid("the conversation on the messaging network is another one by now: look who is answered, and send it again").
			With("reason", "delivery-changed")
	}
	r := channel.Route{Channel: at.Channel, Account: at.AccountID, Conversation: at.To, Thread: at.ThreadID, Chat: channel.Direct}
	if row.Dock == nil && row.ChatType != "" {
		r.Chat = channel.ChatType(row.ChatType)
	}
	return r.String(), nil
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
