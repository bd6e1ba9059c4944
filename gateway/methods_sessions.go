package gateway

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
)

const maxLabel = 512

func (g *Gateway) sessionsList(ctx context.Context, p protocol.SessionsListParams) (protocol.SessionsList, error) {
	list, err := g.session.List(ctx, p)
	list.Defaults = g.modelDefaults()
	return list, err
}

func (g *Gateway) modelDefaults() protocol.SessionModelDefaults {
	ref, _ := g.models.Default()
	d := protocol.SessionModelDefaults{ModelProvider: ref.Provider, Model: ref.Model}
	for _, e := range g.models.Models() {
		if e.Ref == ref {
			d.ContextTokens = e.ContextWindow
		}
	}
	return d
}

func (g *Gateway) sessionsGet(ctx context.Context, p protocol.SessionKeyParams) (protocol.SessionsGetResult, error) {
	key, err := g.agents.Canonical(p.Key, p.AgentID)
	if err != nil {
		return protocol.SessionsGetResult{}, err
	}
	h, err := g.session.History(ctx, key, protocol.ChatHistoryParams{Limit: p.Limit})
	if err != nil {
		return protocol.SessionsGetResult{}, err
	}
	res := protocol.SessionsGetResult{Messages: h.Messages}
	row, ok, err := g.session.Get(key)
	if ok {
		res.Session = &row
	}
	return res, err
}

func (g *Gateway) sessionsCreate(ctx context.Context, p protocol.SessionsCreateParams) (protocol.SessionsCreateResult, error) {
	key := p.Key
	if key == "" {
		key = "chat:" + newUUID()
	}
	var res protocol.SessionsCreateResult
	key, err := g.agents.Canonical(key, p.AgentID)
	if err != nil {
		return res, err
	}
	if err := checkLabel(protocol.MethodSessionsCreate, p.Label); err != nil {
		return res, err
	}
	if p.Model != "" {
		if err := g.choice.Check(p.Model); err != nil {
			return res, protocol.InvalidParams(protocol.MethodSessionsCreate, "%v", err)
		}
	}
	row, err := g.session.Create(ctx, key, p.Label, p.Model)
	if err != nil {
		return res, err
	}
	res = protocol.SessionsCreateResult{OK: true, Key: key, SessionID: row.SessionID, Entry: entryOf(row)}
	if p.Message == "" {
		return res, nil
	}
	if p.IdempotencyKey == "" {
		p.IdempotencyKey = newUUID()
	}
	sent, err := g.chatSend(ctx, protocol.ChatSendParams{SessionKey: key, Message: p.Message, IdempotencyKey: p.IdempotencyKey})
	res.RunStarted, res.RunID = err == nil, sent.RunID
	return res, err
}

func entryOf(r session.Row) protocol.SessionEntry {
	return protocol.SessionEntry{SessionID: r.SessionID, UpdatedAt: r.UpdatedAt, CreatedAt: r.CreatedAt, Label: r.Label, ArchivedAt: r.WhenArchived()}
}

func checkLabel(method, label string) error {
	if len(label) > maxLabel {
		return protocol.InvalidParams(method, "label has %d bytes, at most %d are allowed", len(label), maxLabel)
	}
	return nil
}

func (g *Gateway) sessionsPatch(ctx context.Context, p protocol.SessionsPatchParams) (protocol.SessionsPatchResult, error) {
	var res protocol.SessionsPatchResult
	key, err := g.agents.Canonical(p.Key, p.AgentID)
	if err != nil {
		return res, err
	}
	if v := p.Label.Value; v != nil {
		if err := checkLabel(protocol.MethodSessionsPatch, *v); err != nil {
			return res, err
		}
	}
	if v := p.Model.Value; v != nil {
		if err := g.choice.Check(*v); err != nil {
			return res, protocol.InvalidParams(protocol.MethodSessionsPatch, "%v", err)
		}
		p.Model = protocol.PatchTo(g.choice.Pin(key, *v))
	}
	row, err := g.session.PatchIf(ctx, key, p, expectedPatch(p))
	if err != nil {
		return res, unexpected(err, p.Key, "patch")
	}
	d := g.modelDefaults()
	res = protocol.SessionsPatchResult{OK: true, Path: g.store.Path(), Key: key, Entry: entryOf(row),
		Resolved: protocol.ResolvedModel{ModelProvider: d.ModelProvider, Model: d.Model}}
	if ref := row.Chosen(); ref != (model.Ref{}) {
		res.Resolved = protocol.ResolvedModel{ModelProvider: ref.Provider, Model: ref.Model}
	}
	return res, nil
}

func (g *Gateway) sessionsReset(ctx context.Context, p protocol.SessionsResetParams) (protocol.SessionsResetResult, error) {
	key, err := g.agents.Canonical(p.Key, p.AgentID)
	if err != nil {
		return protocol.SessionsResetResult{}, err
	}
	row, err := g.session.ResetIf(ctx, key, session.Expected{SessionID: p.ExpectedSessionID})
	return protocol.SessionsResetResult{OK: err == nil, Key: key, Entry: entryOf(row)}, unexpected(err, p.Key, "reset")
}

func (g *Gateway) sessionsEarlier(ctx context.Context, p protocol.EarlierParams) (protocol.EarlierList, error) {
	if p.Key != "" {
		key, err := g.agents.Canonical(p.Key, "")
		if err != nil {
			return protocol.EarlierList{}, err
		}
		p.Key = key
	}
	return g.session.Earlier(ctx, p)
}

func (g *Gateway) sessionsContinue(ctx context.Context, p protocol.ContinueParams) (protocol.Continued, error) {
	key, err := g.agents.Canonical(p.Key, "")
	if err != nil {
		return protocol.Continued{}, err
	}
	row, err := g.session.Continue(ctx, key, p.SessionID, "agent:"+session.AgentOf(key)+":chat:"+newUUID())
	if err != nil {
		return protocol.Continued{}, err
	}
	shown, _, err := g.session.Get(row.Key)
	return protocol.Continued{Key: row.Key, Session: shown}, err
}

// sessionsDelete needs admin, but for a session that was archived before.
func (g *Gateway) sessionsDelete(ctx context.Context, c *server.Caller, p protocol.SessionsDeleteParams) (protocol.SessionsDeleteResult, error) {
	if !p.ArchivedOnly && !protocol.Allows(c.Scopes, protocol.ScopeAdmin) {
		return protocol.SessionsDeleteResult{}, protocol.MissingScope(protocol.ScopeAdmin)
	}
	key, err := g.agents.Canonical(p.Key, p.AgentID)
	if err != nil {
		return protocol.SessionsDeleteResult{}, err
	}
	keep := p.DeleteTranscript != nil && !*p.DeleteTranscript
	deleted, err := g.session.DeleteIf(ctx, key, keep, session.Expected{
		SessionID: p.ExpectedSessionID, UpdatedAt: p.ExpectedSessionUpdatedAt, Archived: p.ArchivedOnly, Unknown: p.ExpectedLifecycleRevision != "",
	})
	return protocol.SessionsDeleteResult{OK: err == nil, Key: key, Deleted: deleted, Archived: []string{}}, unexpected(err, p.Key, "deletion")
}

func (g *Gateway) transcriptExport(ctx context.Context, p protocol.TranscriptExportParams) (protocol.TranscriptExport, error) {
	key, err := g.agents.Canonical(p.Key, "")
	if err != nil {
		return protocol.TranscriptExport{}, err
	}
	out, err := g.session.Export(ctx, key, p.SessionID, p.After, p.Limit)
	if err != nil {
		return protocol.TranscriptExport{}, err
	}
	return redacted(&g.redactor, out) // an export leaves this machine
}
