package acp

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// NewSession implements sdk.Agent. MCP servers that the editor names are not
// used: the owner sets those up in Hearth.
func (a *Agent) NewSession(ctx context.Context, p sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	dir, err := folder(p.Cwd)
	if err != nil {
		return sdk.NewSessionResponse{}, err
	}
	id := sdk.SessionId(sessionPrefix + strings.ToLower(rand.Text()))
	if err := a.watch(ctx, id, dir); err != nil {
		return sdk.NewSessionResponse{}, err
	}
	models := a.models(ctx, "")
	a.offerSoon(ctx, id)
	return sdk.NewSessionResponse{SessionId: id, Models: models, ConfigOptions: settings(models)}, nil
}

// offerSoon tells the commands once the editor knows the session.
func (a *Agent) offerSoon(ctx context.Context, id sdk.SessionId) {
	ctx = context.WithoutCancel(ctx)
	time.AfterFunc(offerAfter, func() { a.offer(ctx, id) })
}

const offerAfter = 100 * time.Millisecond

func (a *Agent) watch(ctx context.Context, id sdk.SessionId, dir string) error {
	var res protocol.SubscribeResult
	if err := a.gateway.Call(ctx, protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: string(id)}, &res); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions[id], a.folders[id] = true, dir
	return nil
}

func (a *Agent) has(id sdk.SessionId) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[id]
}

// enter goes on with a session of an editor; others stay closed to editors.
func (a *Agent) enter(ctx context.Context, id sdk.SessionId, cwd string) (protocol.SessionRow, error) {
	dir, err := folder(cwd)
	if err != nil {
		return protocol.SessionRow{}, err
	}
	if !strings.HasPrefix(string(id), sessionPrefix) || strings.ContainsAny(string(id), ": ") {
		return protocol.SessionRow{}, sdk.NewInvalidParams("this is no session of an editor")
	}
	var known protocol.SessionsDescribeResult
	if err := a.gateway.Call(ctx, protocol.MethodSessionsDescribe, protocol.SessionKeyParams{Key: string(id)}, &known); err != nil {
		return protocol.SessionRow{}, err
	}
	if known.Session == nil && !a.has(id) { // one that was just made is not known there yet
		return protocol.SessionRow{}, sdk.NewInvalidParams("there is no session " + string(id))
	}
	if err := a.watch(ctx, id, dir); err != nil || known.Session == nil {
		return protocol.SessionRow{}, err
	}
	return *known.Session, nil
}

// rows are the sessions of editors, those that were used last first.
func (a *Agent) rows(ctx context.Context) (out []protocol.SessionRow, err error) {
	var list protocol.SessionsList
	if err := a.gateway.Call(ctx, protocol.MethodSessionsList, protocol.SessionsListParams{Limit: maxListed, IncludeDerivedTitles: true},
		&list); err != nil {
		return nil, err
	}
	for _, r := range list.Sessions {
		if sessionOf(r.Key) != "" {
			out = append(out, r)
		}
	}
	return out, nil
}

const maxListed = 1000

// sessionOf is the editor's name of a session, "" when it is no editor's.
func sessionOf(key string) sdk.SessionId {
	if i := strings.LastIndexByte(key, ':'); strings.HasPrefix(key, "agent:") && strings.HasPrefix(key[i+1:], sessionPrefix) &&
		strings.Count(key, ":") == 2 {
		return sdk.SessionId(key[i+1:])
	}
	return ""
}

// ListSessions implements sdk.Agent.
func (a *Agent) ListSessions(ctx context.Context, p sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	out := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{}}
	rows, err := a.rows(ctx)
	for _, r := range rows {
		if p.Cwd != nil && r.Folder != "" && filepath.Clean(*p.Cwd) != r.Folder {
			continue
		}
		one := sdk.SessionInfo{SessionId: sessionOf(r.Key), Cwd: cmp.Or(r.Folder, "/"),
			UpdatedAt: sdk.Ptr(time.UnixMilli(r.UpdatedAt).UTC().Format(time.RFC3339))}
		if p.Cwd != nil { // of older sessions none is known; whoever asks for one means to go on there
			one.Cwd = filepath.Clean(*p.Cwd)
		}
		r.DerivedTitle = withoutFolder(r.DerivedTitle)
		if title := r.Label + r.DerivedTitle; title != "" {
			if r.Label != "" {
				title = r.Label
			}
			one.Title = &title
		}
		out.Sessions = append(out.Sessions, one)
	}
	return out, err
}

// LoadSession implements sdk.AgentLoader: what was said is told again.
func (a *Agent) LoadSession(ctx context.Context, p sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	row, err := a.enter(ctx, p.SessionId, p.Cwd)
	if err != nil {
		return sdk.LoadSessionResponse{}, err
	}
	var h protocol.ChatHistory
	if err := a.gateway.Call(ctx, protocol.MethodChatHistory, protocol.ChatHistoryParams{SessionKey: string(p.SessionId), Limit: replayed},
		&h); err != nil {
		return sdk.LoadSessionResponse{}, err
	}
	began := map[string]bool{}
	for i := range h.Messages {
		m := &h.Messages[i]
		tell := func(u sdk.SessionUpdate) error {
			return a.editor().SessionUpdate(ctx, sdk.SessionNotification{SessionId: p.SessionId, Update: u})
		}
		if m.Role == protocol.MessageToolResult {
			if began[m.ToolCallID] { // its call may be older than what is told again
				if err := tell(resultOf(m)); err != nil {
					return sdk.LoadSessionResponse{}, err
				}
			}
			continue
		}
		u := sdk.UpdateAgentMessageText(m.Text())
		if m.Role == protocol.MessageUser {
			u = sdk.UpdateUserMessageText(withoutFolder(m.Text()))
		} else if m.Role != protocol.MessageAssistant {
			continue
		}
		updates := callsOf(m, began)
		if m.Text() != "" {
			updates = append([]sdk.SessionUpdate{u}, updates...)
		}
		updates = append(thoughtsOf(m), updates...)
		for _, u := range updates {
			if err := tell(u); err != nil {
				return sdk.LoadSessionResponse{}, err
			}
		}
	}
	models := a.models(ctx, modelOf(row))
	a.offerSoon(ctx, p.SessionId)
	return sdk.LoadSessionResponse{Models: models, ConfigOptions: settings(models)}, nil
}

// ResumeSession implements sdk.Agent: as LoadSession, without telling it again.
func (a *Agent) ResumeSession(ctx context.Context, p sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	row, err := a.enter(ctx, p.SessionId, p.Cwd)
	if err != nil {
		return sdk.ResumeSessionResponse{}, err
	}
	models := a.models(ctx, modelOf(row))
	a.offerSoon(ctx, p.SessionId)
	return sdk.ResumeSessionResponse{Models: models, ConfigOptions: settings(models)}, nil
}

// CloseSession implements sdk.Agent: what is under way is stopped. The session
// stays in Hearth.
func (a *Agent) CloseSession(ctx context.Context, p sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	if !a.has(p.SessionId) {
		return sdk.CloseSessionResponse{}, nil
	}
	a.abort(ctx, p.SessionId, "")
	a.mu.Lock()
	delete(a.sessions, p.SessionId)
	a.mu.Unlock()
	var res protocol.SubscribeResult
	_ = a.gateway.Call(ctx, protocol.MethodSessionsMessagesUnsubscribe, protocol.SessionKeyParams{Key: string(p.SessionId)}, &res)
	return sdk.CloseSessionResponse{}, nil
}

func modelOf(r protocol.SessionRow) string {
	if r.ModelProvider == "" || r.Model == "" {
		return ""
	}
	return r.ModelProvider + "/" + r.Model
}

// models are those that a session can have, with the one that it has; nil when
// that is not known.
func (a *Agent) models(ctx context.Context, current string) *sdk.SessionModelState {
	var list protocol.ModelsList
	if a.gateway.Call(ctx, protocol.MethodModelsList, protocol.ModelsListParams{}, &list) != nil {
		return nil
	}
	out := &sdk.SessionModelState{CurrentModelId: sdk.ModelId(current), AvailableModels: []sdk.ModelInfo{}}
	for _, m := range list.Models {
		if !m.Available {
			continue
		}
		id := m.Provider + "/" + m.ID
		out.AvailableModels = append(out.AvailableModels, sdk.ModelInfo{ModelId: sdk.ModelId(id), Name: m.Name})
		if current == "" && slices.Contains(m.Tags, "default") {
			out.CurrentModelId = sdk.ModelId(id)
		}
	}
	known := func(m sdk.ModelInfo) bool { return m.ModelId == out.CurrentModelId }
	if len(out.AvailableModels) == 0 || !slices.ContainsFunc(out.AvailableModels, known) {
		return nil
	}
	return out
}

// UnstableSetSessionModel chooses a session's model.
func (a *Agent) UnstableSetSessionModel(ctx context.Context, p sdk.UnstableSetSessionModelRequest) (sdk.UnstableSetSessionModelResponse,
	error) {
	var none sdk.UnstableSetSessionModelResponse
	if !a.has(p.SessionId) {
		return none, sdk.NewInvalidParams(fmt.Sprintf("there is no session %s", p.SessionId))
	}
	return none, a.choose(ctx, p.SessionId, string(p.ModelId))
}
