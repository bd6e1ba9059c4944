package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

func (f *feature) patch(ctx context.Context, p protocol.SessionsPatchParams) (protocol.SessionsPatchResult, error) {
	var res protocol.SessionsPatchResult
	key, err := f.o.Agents.Canonical(p.Key, p.AgentID)
	if err != nil {
		return res, err
	}
	if err := f.o.Dispatch.Answers(key); err != nil {
		return res, err
	}
	if v := p.Label.Value; v != nil {
		if err := checkLabel(protocol.MethodSessionsPatch, *v); err != nil {
			return res, err
		}
	}
	if v := p.Model.Value; v != nil {
		if err := f.o.Choice.Check(*v); err != nil {
			return res, protocol.InvalidParams(protocol.MethodSessionsPatch, "%v", err)
		}
		p.Model = protocol.PatchTo(f.o.Choice.Pin(key, *v))
	}
	row, err := f.o.Sessions.PatchIf(ctx, key, p, expectedPatch(p))
	if err != nil {
		return res, unexpected(err, p.Key, "patch")
	}
	d := f.o.Choice.SessionDefaults()
	res = protocol.SessionsPatchResult{OK: true, Path: f.o.DB.Path(), Key: key, Entry: entryOf(row),
		Resolved: protocol.ResolvedModel{ModelProvider: d.ModelProvider, Model: d.Model}}
	if ref := row.Chosen(); ref != (model.Ref{}) {
		res.Resolved = protocol.ResolvedModel{ModelProvider: ref.Provider, Model: ref.Model}
	}
	return res, nil
}

func (f *feature) reset(ctx context.Context, p protocol.SessionsResetParams) (protocol.SessionsResetResult, error) {
	key, err := f.o.Agents.Canonical(p.Key, p.AgentID)
	if err != nil {
		return protocol.SessionsResetResult{}, err
	}
	before, _, _ := f.o.Sessions.Get(key)
	row, err := f.o.Sessions.ResetIf(ctx, key, session.Expected{SessionID: p.ExpectedSessionID})
	if err == nil {
		f.wasReset(p.Reason, before, row)
	}
	return protocol.SessionsResetResult{OK: err == nil, Key: key, Entry: entryOf(row)}, unexpected(err, p.Key, "reset")
}

// wasReset tells hooks of a session that a client began anew.
func (f *feature) wasReset(reason string, before protocol.SessionRow, now session.Row) {
	if reason != "new" {
		reason = "reset"
	}
	who := f.o.Agents.OfSession(now.Key)
	f.o.Sessions.Happened(session.Happening{Type: "command", Action: reason, SessionKey: now.Key, Facts: map[string]any{
		"agentId": who.ID, "workspaceDir": who.Workspace, "commandSource": "gateway:sessions.reset",
		"previousSessionEntry": dispatch.Entry(before), "sessionEntry": map[string]any{"sessionId": now.SessionID, "updatedAt": now.UpdatedAt},
	}})
}

func (f *feature) earlier(ctx context.Context, p protocol.EarlierParams) (protocol.EarlierList, error) {
	if p.Key != "" {
		key, err := f.o.Agents.Canonical(p.Key, "")
		if err != nil {
			return protocol.EarlierList{}, err
		}
		p.Key = key
	}
	return f.o.Sessions.Earlier(ctx, p)
}

func (f *feature) resume(ctx context.Context, p protocol.ContinueParams) (protocol.Continued, error) {
	key, err := f.o.Agents.Canonical(p.Key, "")
	if err != nil {
		return protocol.Continued{}, err
	}
	row, err := f.o.Sessions.Continue(ctx, key, p.SessionID, "agent:"+session.AgentOf(key)+":chat:"+uuid.New())
	if err != nil {
		return protocol.Continued{}, err
	}
	shown, _, err := f.o.Sessions.Get(row.Key)
	return protocol.Continued{Key: row.Key, Session: shown}, err
}

// remove needs admin, but for a session that was archived before.
func (f *feature) remove(ctx context.Context, c *server.Caller, p protocol.SessionsDeleteParams) (protocol.SessionsDeleteResult, error) {
	if !p.ArchivedOnly && !protocol.Allows(c.Scopes, protocol.ScopeAdmin) {
		return protocol.SessionsDeleteResult{}, protocol.MissingScope(protocol.ScopeAdmin)
	}
	key, err := f.o.Agents.Canonical(p.Key, p.AgentID)
	if err != nil {
		return protocol.SessionsDeleteResult{}, err
	}
	keep := p.DeleteTranscript != nil && !*p.DeleteTranscript
	// A page that is closed says last what its person deleted, and is gone before it is done.
	ctx = context.WithoutCancel(ctx)
	deleted, err := f.o.Sessions.DeleteIf(ctx, key, keep, session.Expected{
		SessionID: p.ExpectedSessionID, UpdatedAt: p.ExpectedSessionUpdatedAt, Archived: p.ArchivedOnly,
		Unknown: p.ExpectedLifecycleRevision != "",
	})
	return protocol.SessionsDeleteResult{OK: err == nil, Key: key, Deleted: deleted, Archived: []string{}}, unexpected(err, p.Key, "deletion")
}

func (f *feature) export(ctx context.Context, p protocol.TranscriptExportParams) (protocol.TranscriptExport, error) {
	key, err := f.o.Agents.Canonical(p.Key, "")
	if err != nil {
		return protocol.TranscriptExport{}, err
	}
	out, err := f.o.Sessions.Export(ctx, key, p.SessionID, p.After, p.Limit)
	if err != nil {
		return protocol.TranscriptExport{}, err
	}
	return redacted(f.o.Secrets, out) // an export leaves this machine
}

func (f *feature) compact(ctx context.Context, p protocol.SessionsCompactParams) (protocol.SessionsCompactResult, error) {
	key, err := f.o.Agents.Canonical(p.Key, p.AgentID)
	if err != nil {
		return protocol.SessionsCompactResult{}, err
	}
	if p.Restore {
		err := f.o.Sessions.Restore(ctx, key)
		return protocol.SessionsCompactResult{OK: err == nil, Key: key}, err
	}
	_, err = f.o.Sessions.Compact(ctx, key, p.Instructions)
	if errors.Is(err, session.ErrNothingToCompact) {
		return protocol.SessionsCompactResult{OK: true, Key: key, Reason: err.Error()}, nil
	}
	return protocol.SessionsCompactResult{OK: err == nil, Key: key, Compacted: err == nil}, err
}

// abort is chat.abort by the session's name, or by the run's alone.
func (f *feature) abort(ctx context.Context, p protocol.SessionsAbortParams) (protocol.SessionsAbortResult, error) {
	if p.Key == "" && p.RunID != "" {
		rec, err := f.o.Sessions.Why("", p.RunID)
		if err != nil {
			return protocol.SessionsAbortResult{}, err
		}
		p.Key = rec.SessionKey
	}
	key, err := f.o.Agents.Canonical(p.Key, p.AgentID)
	if err != nil {
		return protocol.SessionsAbortResult{Status: "no-active-run"}, err
	}
	ids, err := f.o.Sessions.Abort(ctx, key, p.RunID)
	if ids == nil {
		ids = []string{}
	}
	res := protocol.SessionsAbortResult{OK: err == nil, Status: "no-active-run", RunIDs: ids}
	if n := len(ids); n > 0 {
		res.Status, res.AbortedRunID = "aborted", &ids[n-1]
	}
	return res, err
}

// redacted is a value with the secrets in all its texts hidden.
func redacted[T any](r *redact.Redactor, v T) (out T, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return out, fmt.Errorf("hide secrets: %w", err)
	}
	if err := json.Unmarshal(r.JSON(raw), &out); err != nil {
		return out, fmt.Errorf("hide secrets: %w", err)
	}
	return out, nil
}
