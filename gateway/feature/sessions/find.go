package sessions

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
)

func (f *feature) describe(_ context.Context, p protocol.SessionKeyParams) (protocol.SessionsDescribeResult, error) {
	key, err := f.o.Agents.Canonical(p.Key, p.AgentID)
	if err != nil {
		return protocol.SessionsDescribeResult{}, err
	}
	row, ok, err := f.o.Sessions.Get(key)
	if err != nil || !ok {
		return protocol.SessionsDescribeResult{}, err
	}
	return protocol.SessionsDescribeResult{Session: &row}, nil
}

func (f *feature) resolve(ctx context.Context, p protocol.SessionsResolveParams) (protocol.SessionsResolveResult, error) {
	if p.Key != "" {
		key, err := f.o.Agents.Canonical(p.Key, p.AgentID)
		return protocol.SessionsResolveResult{OK: err == nil, Key: key, AgentID: session.AgentOf(key)}, err
	}
	want := strings.ToLower(p.Label)
	for offset := 0; ; {
		list, err := f.o.Sessions.List(ctx, protocol.SessionsListParams{Limit: 1000, Offset: offset})
		if err != nil {
			return protocol.SessionsResolveResult{}, err
		}
		for _, s := range list.Sessions {
			if p.SessionID != "" && s.SessionID == p.SessionID || want != "" && strings.ToLower(s.Label) == want {
				return protocol.SessionsResolveResult{OK: true, Key: s.Key, AgentID: session.AgentOf(s.Key)}, nil
			}
		}
		if list.NextOffset == nil {
			return protocol.SessionsResolveResult{}, protocol.Invalid("No session has that name. `sessions.list` shows them.").With("code",
				"NOT_FOUND")
		}
		offset = *list.NextOffset
	}
}

func (f *feature) preview(ctx context.Context, p protocol.SessionsPreviewParams) (protocol.SessionsPreview, error) {
	const defaultItems, maxItems, defaultChars, maxKeys = 6, 50, 240, 200
	if len(p.Keys) > maxKeys {
		return protocol.SessionsPreview{}, protocol.InvalidParams(protocol.MethodSessionsPreview, "at most %d keys at a time", maxKeys)
	}
	if p.Limit <= 0 {
		p.Limit = defaultItems
	}
	if p.MaxChars <= 0 {
		p.MaxChars = defaultChars
	}
	out := protocol.SessionsPreview{TS: f.o.Now().UnixMilli(), Previews: []protocol.SessionPreview{}}
	for _, k := range p.Keys {
		key, err := f.o.Agents.Canonical(k, "")
		if err != nil {
			return out, err
		}
		h, err := f.o.Sessions.History(ctx, key, protocol.ChatHistoryParams{Limit: min(p.Limit, maxItems), MaxChars: p.MaxChars})
		if err != nil {
			return out, err
		}
		pv := protocol.SessionPreview{Key: key, Status: "ok", Items: []protocol.PreviewItem{}}
		for _, m := range h.Messages {
			if text := m.Text(); text != "" {
				pv.Items = append(pv.Items, protocol.PreviewItem{Role: m.Role, Text: text})
			}
		}
		if h.SessionID == "" {
			pv.Status = "missing"
		} else if len(pv.Items) == 0 {
			pv.Status = "empty"
		}
		out.Previews = append(out.Previews, pv)
	}
	return out, nil
}

func watchSessions(name string, on bool) method.Method {
	return method.Method{Name: name, Answer: func(_ context.Context, c *server.Caller, _ json.RawMessage) (any, error) {
		c.WatchSessions(on)
		return protocol.SubscribeResult{Subscribed: on}, nil
	}}
}

func (f *feature) watchMessages(name string, on bool) method.Method {
	return method.Called(name, func(_ context.Context, c *server.Caller, p protocol.SessionKeyParams) (protocol.SubscribeResult, error) {
		key, err := f.o.Agents.Canonical(p.Key, p.AgentID)
		if err != nil {
			return protocol.SubscribeResult{}, err
		}
		c.WatchMessages(key, on)
		return protocol.SubscribeResult{Subscribed: on, Key: key}, nil
	})
}
