package nodes

import (
	"errors"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/node"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// nodeError gives the registry's errors their form on the wire.
func nodeError(err error) error {
	var refused *node.NotAllowedError
	var failed *node.FailedError
	var bad *node.BadAnswerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return protocol.Invalid("%v", err).With("reason", "command not allowlisted").With("command", refused.Command)
	case errors.As(err, &failed) && failed.Code == node.BackgroundUnavailable:
		return protocol.Invalid("%v", err).With("code", failed.Code).With("nodeError",
			nodeErrorOf(failed.Code, failed.Message)).With("nodeCommandDispatched", true)
	case errors.As(err, &failed):
		return dispatched(err.Error(), failed.Code, failed.Message)
	case errors.As(err, &bad):
		return dispatched(err.Error(), "BAD_ANSWER", bad.Why)
	case errors.Is(err, node.ErrNotConnected):
		e := dispatched(err.Error(), "NOT_CONNECTED", err.Error())
		return e.With("code", "NOT_CONNECTED").With("nodeCommandDispatched", false)
	case errors.Is(err, node.ErrTimeout):
		return dispatched("TIMEOUT: "+err.Error(), "TIMEOUT", err.Error())
	case errors.Is(err, node.ErrGone):
		return dispatched("DISCONNECTED: "+err.Error(), "DISCONNECTED", err.Error()+"; it may have been done")
	case errors.Is(err, node.ErrBusy):
		return protocol.Unavailable(1000, "%v", err)
	case method.ErrorIs(err, node.ErrUnknown, node.ErrNoRequest):
		return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	case method.ErrorIs(err, node.ErrKeyUsed, node.ErrKeyOld):
		return protocol.Invalid("%v", err).With("code", "CONFLICT")
	}
	return err
}

func nodeErrorOf(code, message string) map[string]any {
	return map[string]any{"code": code, "message": message}
}

func dispatched(text, code, message string) *protocol.Error {
	return &protocol.Error{Code: protocol.CodeUnavailable, Message: text, Details: map[string]any{
		"nodeError": nodeErrorOf(code, message), "nodeCommandDispatched": true}}
}
