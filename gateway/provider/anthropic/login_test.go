package anthropic

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// A server that checks: a login only as a bearer token with its header, a key of
// the API only as such.
func checking(w http.ResponseWriter, r *http.Request) {
	bearer, key := r.Header.Get("Authorization"), r.Header.Get("X-Api-Key")
	login := strings.HasPrefix(bearer, "Bearer sk-ant-oat01-") && key == "" && strings.Contains(r.Header.Get("Anthropic-Beta"),
		"oauth-2025-04-20")
	api := bearer == "" && strings.HasPrefix(key, "sk-ant-api03-") && r.Header.Get("Anthropic-Beta") == ""
	if !login && !api {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}\n\n"+
		"event: content_block_start\n"+
		"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"+
		"event: content_block_delta\n"+
		"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"let in\"}}\n\n"+
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"+
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n"+
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
}

func TestLoginIsABearerToken(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(checking))
	defer srv.Close()
	for key, want := range map[string]string{
		"sk-ant-oat01-aaaabbbbccccdddd": "let in", // a login of Claude Code
		"sk-ant-api03-aaaabbbbccccdddd": "let in",
		"sk-ant-other":                  "",
	} {
		p := New(wire.Service{Ref: model.Ref{Provider: "anthropic", Model: "m"}, BaseURL: srv.URL, HTTP: srv.Client(),
			Key: func() string { return key }}, Quirks{})
		said := ""
		var failed error
		for ev, err := range p.Stream(t.Context(),
			model.Request{Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: "hello"}}}}}) {
			if failed = err; err == nil && ev.Kind == model.EventText {
				said += ev.Text
			}
		}
		if said != want || (failed == nil) != (want != "") {
			t.Errorf("%s: %q, %v", key, said, failed)
		}
		if failed != nil && model.ClassOf(failed) != model.ClassAuth {
			t.Errorf("%s: class %v", key, model.ClassOf(failed))
		}
	}
}
