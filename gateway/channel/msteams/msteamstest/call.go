package msteamstest

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// Said is what somebody did. Extra is laid over the activity that is made of it.
type Said struct {
	Type         string // "" is message
	Conversation string // with the thread
	ID           string
	User, Name   string // an object id of the directory
	Text         string
	Mentions     map[string]string // ids by the names that stand in <at>…</at>
	Extra        map[string]any
	At           time.Time
}

// Say sends an activity to the bot, again until it was taken.
func (s *Server) Say(m Said) { s.Post(m.ID, func() channel.Call { return s.Call(s.Body(m), nil) }) }

// Body is what the Bot Connector posts.
func (s *Server) Body(m Said) []byte {
	if m.Type == "" {
		m.Type = "message"
	}
	if m.At.IsZero() {
		m.At = time.Now()
	}
	s.mu.Lock()
	kind := s.conversations[root(m.Conversation)]
	s.mu.Unlock()
	where := map[string]any{"id": m.Conversation, "conversationType": kind, "tenantId": Tenant}
	data := map[string]any{"tenant": map[string]any{"id": Tenant}}
	if kind != "personal" {
		where["isGroup"] = true
	}
	if kind == "channel" {
		data["team"], data["channel"] = map[string]any{"id": "19:team@thread.tacv2", "name": "Town"},
			map[string]any{"id": root(m.Conversation), "name": "General"}
	}
	a := map[string]any{
		"type": m.Type, "id": m.ID, "timestamp": m.At.UTC().Format(time.RFC3339Nano), "serviceUrl": Service, "channelId": "msteams",
		"from":      map[string]any{"id": "29:1" + m.User, "name": m.Name, "aadObjectId": m.User},
		"recipient": map[string]any{"id": Bot, "name": "Hearth"}, "conversation": where, "channelData": data, "textFormat": "plain",
	}
	if m.Text != "" {
		a["text"] = m.Text
	}
	var entities []any
	for name, id := range m.Mentions {
		entities = append(entities, map[string]any{"type": "mention", "text": "<at>" + name + "</at>",
			"mentioned": map[string]any{"id": id, "name": name}})
	}
	a["entities"] = append(entities, map[string]any{"type": "clientInfo", "locale": "en-US", "platform": "Web"})
	for key, value := range m.Extra {
		a[key] = value
	}
	b, _ := json.Marshal(a)
	return b
}

// Claims are those of the token that comes with a call.
func (s *Server) Claims() map[string]any {
	now := time.Now()
	return map[string]any{"iss": "https://api.botframework.com", "aud": App, "serviceurl": Service, "nbf": now.Unix(),
		"exp": now.Add(time.Hour).Unix()}
}

// Call is a signed call; change may change what its token says.
func (s *Server) Call(body []byte, change func(map[string]any)) channel.Call {
	claims := s.Claims()
	if change != nil {
		change(claims)
	}
	return s.With(body, sign(s.own, "RS256", claims))
}

// With is a call with any token.
func (s *Server) With(body []byte, token string) channel.Call {
	return channel.Call{Method: http.MethodPost, Path: s.path, Body: body,
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Authorization": {"Bearer " + token}}}
}
