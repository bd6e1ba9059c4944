package gateway

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// expectedPatch is what a change is meant for. Sessions of ours have no revision
// and none of these settings, so whoever expects some looks at something else.
func expectedPatch(p protocol.SessionsPatchParams) session.Expected {
	e := session.Expected{SessionID: p.ExpectedSessionID}
	e.Unknown = p.ExpectedLifecycleRevision != "" || anySet(p.ExpectedPermissionMode, p.ExpectedSandboxMode, p.ExpectedNativeRuntimeConsent, p.ExpectedToolOverrides, p.ExpectedMarkedUnreadAt)
	e.OrNone = e.SessionID == "" && !e.Unknown
	return e
}

func expectedSend(p protocol.ChatSendParams) session.Expected {
	return session.Expected{
		SessionID: cmp.Or(p.ExpectedSessionID, p.SessionID), OrNone: p.ExpectedSessionID == "",
		Unknown: anySet(p.ExpectedPermissionMode, p.ExpectedToolOverrides),
	}
}

func anySet(values ...any) bool {
	for _, v := range values {
		if v != nil {
			return true
		}
	}
	return false
}

// unexpected gives a refused act the words that OpenClaw's clients know.
func unexpected(err error, key, act string) error {
	switch {
	case errors.Is(err, session.ErrChanged):
		return changedError("Session %s changed before %s. Retry.", key, act)
	case errors.Is(err, session.ErrNotArchived):
		return protocol.Invalid("Session %s is not archived. Archive it first, then delete it.", key)
	}
	return err
}

func unexpectedSend(err error, p protocol.ChatSendParams) error {
	switch {
	case !errors.Is(err, session.ErrChanged):
		return err
	case anySet(p.ExpectedPermissionMode, p.ExpectedToolOverrides):
		return protocol.Invalid("Session settings changed before send. Retry.").With("reason", "session-settings-changed")
	}
	return changedError("Session %q changed while starting work. Retry.", p.SessionKey)
}

func changedError(format string, a ...any) error {
	return protocol.Invalid("%s", fmt.Sprintf(format, a...)).With("reason", "session-changed")
}
