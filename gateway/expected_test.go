package gateway_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// turnedDown asks for a refusal with words that OpenClaw's clients know.
func (p *peer) turnedDown(method string, params any, reason, words string) {
	p.t.Helper()
	var pe *protocol.Error
	err := p.Call(p.t.Context(), method, params, nil)
	if !errors.As(err, &pe) || pe.Code != protocol.CodeInvalidRequest || !strings.Contains(pe.Message, words) || reason != "" &&
		pe.Details["reason"] != reason {
		p.t.Errorf("%s %+v: %v, want %q (%s)", method, params, err, words, reason)
	}
}

// A client that expects another transcript than the session has by now does
// nothing to it: neither deletes nor changes nor writes to it, nor stops its run.
func TestExpectedSessionIDGuardsEveryAct(t *testing.T) {
	const key, other = "agent:main:guarded", "00000000-0000-4000-8000-00000000dead"
	r := newRig(t, "chat/stream-20-20")
	p := r.connect()
	describe := func() *protocol.SessionRow {
		var d protocol.SessionsDescribeResult
		p.call(protocol.MethodSessionsDescribe, protocol.SessionKeyParams{Key: key}, &d)
		return d.Session
	}
	p.turnedDown(protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: key, Message: "x", IdempotencyKey: "none",
		ExpectedSessionID: other}, "session-changed", "changed while starting work. Retry.")
	p.turnedDown(protocol.MethodSessionsPatch, map[string]any{"key": key, "label": "x", "expectedSessionId": other}, "session-changed",
		"changed before patch. Retry.")
	if describe() != nil {
		t.Error("a refused act made a session")
	}
	p.send(key, "first", "hello")
	p.ended("first")
	was := describe()

	p.send(key, "running", "go on")
	deleted := "Session " + key + " changed before deletion. Retry."
	p.turnedDown(protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key, ExpectedSessionID: other}, "session-changed", deleted)
	p.turnedDown(protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key, ExpectedLifecycleRevision: "r1"}, "session-changed",
		deleted)
	p.turnedDown(protocol.MethodSessionsDelete, map[string]any{"key": key, "expectedSessionUpdatedAt": 1}, "session-changed", deleted)
	p.turnedDown(protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key, ArchivedOnly: true}, "",
		"is not archived. Archive it first")
	p.turnedDown(protocol.MethodSessionsReset, protocol.SessionsResetParams{Key: key, ExpectedSessionID: other}, "session-changed",
		"changed before reset. Retry.")
	for _, guard := range []string{"expectedSessionId", "expectedLifecycleRevision", "expectedPermissionMode", "expectedSandboxMode"} {
		p.turnedDown(protocol.MethodSessionsPatch, map[string]any{"key": key, "label": "taken", guard: other}, "session-changed",
			"changed before patch. Retry.")
	}
	for _, text := range []string{"words", "/new", "/stop", "/think high"} {
		p.turnedDown(protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: key, Message: text, IdempotencyKey: "to " + text,
			SessionID: other}, "session-changed", "changed while starting work. Retry.")
	}
	p.turnedDown(protocol.MethodChatSend, map[string]any{"sessionKey": key, "message": "x", "idempotencyKey": "mode",
		"expectedPermissionMode": "full"}, "session-settings-changed", "Session settings changed before send. Retry.")
	p.turnedDown(protocol.MethodAgent, protocol.AgentParams{SessionKey: key, Message: "x", IdempotencyKey: "agent",
		ExpectedExistingSessionID: other}, "session-changed", "changed while starting expected work. Retry.")
	if end := p.ended("running"); end.State != protocol.ChatFinal {
		t.Errorf("a refused act stopped the run: %+v", end)
	}
	if is := describe(); is == nil || is.SessionID != was.SessionID || is.Label != "" || is.ThinkingLevel != "" ||
		len(p.history(key).Messages) != 4 {
		t.Errorf("a refused act did something: %+v", is)
	}

	var patched protocol.SessionsPatchResult
	p.call(protocol.MethodSessionsPatch, map[string]any{"key": key, "archived": true, "expectedSessionId": was.SessionID,
		"expectedPermissionMode": nil}, &patched)
	if patched.Entry.ArchivedAt == 0 || describe().ArchivedAt != patched.Entry.ArchivedAt {
		t.Errorf("nothing says when it was archived: %+v", patched.Entry)
	}
	p.call(protocol.MethodSessionsReset, protocol.SessionsResetParams{Key: key, ExpectedSessionID: was.SessionID}, nil)
	p.turnedDown(protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key, ExpectedSessionID: was.SessionID}, "session-changed",
		deleted)
	writer := r.connectAs(protocol.ScopeRead, protocol.ScopeWrite)
	if err := writer.Call(t.Context(), protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key}, nil); err == nil ||
		err.Error() != "missing scope: operator.admin" {
		t.Errorf("deleted without the right to: %v", err)
	}
	var gone protocol.SessionsDeleteResult
	writer.call(protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key, ExpectedSessionID: describe().SessionID,
		ArchivedOnly: true}, &gone)
	if !gone.Deleted {
		t.Errorf("%+v", gone)
	}
}
