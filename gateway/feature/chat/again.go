package chat

import (
	"context"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// again answers a message of the person once more: with other words, with another
// model, or as it was. The version before stays, and sessions.branches.switch leads
// back to it.
func (f *feature) again(ctx context.Context, p protocol.ChatAgainParams) (protocol.ChatSendResult, error) {
	words := "the same"
	if p.Message != nil {
		words = *p.Message
	}
	turn, err := f.o.Dispatch.Turn(protocol.MethodChatAgain, p.SessionKey, p.AgentID, words, p.IdempotencyKey, 0)
	if err != nil {
		return protocol.ChatSendResult{}, err
	}
	switch {
	case p.EntryID == "" || len(p.EntryID) > protocol.MaxIdempotencyID:
		return protocol.ChatSendResult{}, protocol.InvalidParams(protocol.MethodChatAgain, "entryId must name a message of this chat")
	case p.Message != nil && f.o.Dispatch.IsCommand(words):
		return protocol.ChatSendResult{}, protocol.Invalid(
			"A command cannot take the place of a message. Write it into the message box instead.").With("code", "COMMAND")
	}
	if p.Model != "" {
		if err := f.o.Choice.Check(p.Model); err != nil {
			return protocol.ChatSendResult{}, protocol.InvalidParams(protocol.MethodChatAgain, "%v", err)
		}
	}
	turn.Again = session.Again{Entry: p.EntryID, Words: p.Message != nil}
	turn.Model, turn.Mode, turn.Follows = p.Model, session.Followup, true
	acc, err := f.o.Dispatch.AcceptAgain(ctx, turn)
	if err != nil {
		return protocol.ChatSendResult{}, refused(err)
	}
	res := protocol.ChatSendResult{RunID: acc.Run.ID, Status: protocol.SendStarted}
	if acc.Duplicate {
		if res.Status = protocol.SendOK; acc.Live {
			res.Status = protocol.SendInFlight
		}
	}
	return res, nil
}

// refused tells a client why a message cannot be answered again.
func refused(err error) error {
	for cause, code := range map[error]string{
		session.ErrBusy: "BUSY", session.ErrNotYours: "NOT_YOURS", session.ErrNoQuestion: "NO_QUESTION",
		session.ErrManyBranches: "MANY_VERSIONS", session.ErrNotFound: "NOT_FOUND",
	} {
		if errors.Is(err, cause) {
			return protocol.Invalid("%s", protocol.Sentence(err.Error())).With("code", code)
		}
	}
	return err
}
