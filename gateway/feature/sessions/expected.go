package sessions

import (
	"errors"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// expectedPatch is what a change is meant for. Sessions of ours have no revision
// and none of these settings, so whoever expects some looks at something else.
func expectedPatch(p protocol.SessionsPatchParams) session.Expected {
	e := session.Expected{SessionID: p.ExpectedSessionID}
	e.Unknown = p.ExpectedLifecycleRevision != "" || method.AnySet(p.ExpectedPermissionMode, p.ExpectedSandboxMode,
		p.ExpectedNativeRuntimeConsent, p.ExpectedToolOverrides, p.ExpectedMarkedUnreadAt)
	e.OrNone = e.SessionID == "" && !e.Unknown
	return e
}

// unexpected gives a refused act the words that OpenClaw's clients know.
func unexpected(err error, key, act string) error {
	switch {
	case errors.Is(err, session.ErrChanged):
		return method.Changed("Session %s changed before %s. Retry.", key, act)
	case errors.Is(err, session.ErrNotArchived):
		return protocol.Invalid("Session %s is not archived. Archive it first, then delete it.", key)
	}
	return err
}
