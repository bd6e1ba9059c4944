package sessions_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// turnedDown asks for a refusal with words that OpenClaw's clients know.
func turnedDown(p *gatewaytest.Peer, method string, params any, reason, words string) {
	p.T.Helper()
	var pe *protocol.Error
	err := p.Call(p.T.Context(), method, params, nil)
	if !errors.As(err, &pe) || pe.Code != protocol.CodeInvalidRequest || !strings.Contains(pe.Message, words) || reason != "" &&
		pe.Details["reason"] != reason {
		p.T.Errorf("%s %+v: %v, want %q (%s)", method, params, err, words, reason)
	}
}

// A client that expects another transcript than the session has by now does
// nothing to it: neither deletes nor changes nor writes to it, nor stops its run.
func TestExpectedSessionIDGuardsEveryAct(t *testing.T) {
	const key, other = "agent:main:guarded", "00000000-0000-4000-8000-00000000dead"
	r := gatewaytest.New(t, "chat/stream-20-20")
	p := r.Connect()
	describe := func() *protocol.SessionRow {
		var d protocol.SessionsDescribeResult
		p.Do(protocol.MethodSessionsDescribe, protocol.SessionKeyParams{Key: key}, &d)
		return d.Session
	}
	turnedDown(p, protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: key, Message: "x", IdempotencyKey: "none",
		ExpectedSessionID: other}, "session-changed", "changed while starting work. Retry.")
	turnedDown(p, protocol.MethodSessionsPatch, map[string]any{"key": key, "label": "x", "expectedSessionId": other}, "session-changed",
		"changed before patch. Retry.")
	if describe() != nil {
		t.Error("a refused act made a session")
	}
	p.Send(key, "first", "hello")
	p.Ended("first")
	was := describe()

	p.Send(key, "running", "go on")
	deleted := "Session " + key + " changed before deletion. Retry."
	turnedDown(p, protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key, ExpectedSessionID: other}, "session-changed", deleted)
	turnedDown(p, protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key, ExpectedLifecycleRevision: "r1"}, "session-changed",
		deleted)
	turnedDown(p, protocol.MethodSessionsDelete, map[string]any{"key": key, "expectedSessionUpdatedAt": 1}, "session-changed", deleted)
	turnedDown(p, protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key, ArchivedOnly: true}, "",
		"is not archived. Archive it first")
	turnedDown(p, protocol.MethodSessionsReset, protocol.SessionsResetParams{Key: key, ExpectedSessionID: other}, "session-changed",
		"changed before reset. Retry.")
	for _, guard := range []string{"expectedSessionId", "expectedLifecycleRevision", "expectedPermissionMode", "expectedSandboxMode"} {
		turnedDown(p, protocol.MethodSessionsPatch, map[string]any{"key": key, "label": "taken", guard: other}, "session-changed",
			"changed before patch. Retry.")
	}
	for _, text := range []string{"words", "/new", "/stop", "/think high"} {
		turnedDown(p, protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: key, Message: text, IdempotencyKey: "to " + text,
			SessionID: other}, "session-changed", "changed while starting work. Retry.")
	}
	turnedDown(p, protocol.MethodChatSend, map[string]any{"sessionKey": key, "message": "x", "idempotencyKey": "mode",
		"expectedPermissionMode": "full"}, "session-settings-changed", "Session settings changed before send. Retry.")
	turnedDown(p, protocol.MethodAgent, protocol.AgentParams{SessionKey: key, Message: "x", IdempotencyKey: "agent",
		ExpectedExistingSessionID: other}, "session-changed", "changed while starting expected work. Retry.")
	if end := p.Ended("running"); end.State != protocol.ChatFinal {
		t.Errorf("a refused act stopped the run: %+v", end)
	}
	if is := describe(); is == nil || is.SessionID != was.SessionID || is.Label != "" || is.ThinkingLevel != "" ||
		len(p.History(key).Messages) != 4 {
		t.Errorf("a refused act did something: %+v", is)
	}

	var patched protocol.SessionsPatchResult
	p.Do(protocol.MethodSessionsPatch, map[string]any{"key": key, "archived": true, "expectedSessionId": was.SessionID,
		"expectedPermissionMode": nil}, &patched)
	if patched.Entry.ArchivedAt == 0 || describe().ArchivedAt != patched.Entry.ArchivedAt {
		t.Errorf("nothing says when it was archived: %+v", patched.Entry)
	}
	p.Do(protocol.MethodSessionsReset, protocol.SessionsResetParams{Key: key, ExpectedSessionID: was.SessionID}, nil)
	turnedDown(p, protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key, ExpectedSessionID: was.SessionID}, "session-changed",
		deleted)
	writer := r.ConnectAs(protocol.ScopeRead, protocol.ScopeWrite)
	if err := writer.Call(t.Context(), protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key}, nil); err == nil ||
		err.Error() != "missing scope: operator.admin" {
		t.Errorf("deleted without the right to: %v", err)
	}
	var gone protocol.SessionsDeleteResult
	writer.Do(protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key, ExpectedSessionID: describe().SessionID,
		ArchivedOnly: true}, &gone)
	if !gone.Deleted {
		t.Errorf("%+v", gone)
	}
}
