package chat_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// seeingRig has a model that can see.
func seeingRig(t *testing.T) *gatewaytest.Rig {
	t.Helper()
	r := gatewaytest.New(t, "chat/echo")
	r.Shutdown()
	path := filepath.Join(string(r.Dir), "hearth.json")
	cfg := map[string]any{
		"models": map[string]any{"providers": map[string]any{"eyes": map[string]any{"baseUrl": r.ModelURL + "/v1", "api": "openai-responses",
			"apiKey": "sk-test",
			"models": []any{map[string]any{"id": "see", "input": []string{"text", "image"}}}}}},
		"agents":   map[string]any{"defaults": map[string]any{"model": "eyes/see"}},
		"features": map[string]any{"titles": false},
	}
	raw, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	r.Start()
	return r
}

// A picture reaches the model with its message and with the next ones, is kept
// once, and stands in the transcript without its bytes.
func TestPicturesReachTheModel(t *testing.T) {
	r := seeingRig(t)
	p := r.Connect()
	params := protocol.ChatSendParams{SessionKey: "main", Message: "What is this?", IdempotencyKey: "k1", Attachments: []protocol.Attachment{
		{Type: "image", MimeType: "image/jpeg", FileName: "a\u202e.png", Content: gatewaytest.Picture(t, 3)},
		{Content: "data:image/png;base64," + gatewaytest.Picture(t, 3)}}}
	p.Do(protocol.MethodChatSend, params, nil)
	if end := p.Ended("k1"); end.Message.Text() != "I see 2 pictures." {
		t.Fatalf("%q %s", end.Message.Text(), end.ErrorMessage)
	}
	p.Send("main", "k2", "And now?")
	if end := p.Ended("k2"); end.Message.Text() != "I see 2 pictures." {
		t.Errorf("the next turn: %q", end.Message.Text())
	}
	got := p.History("main").Messages[0].Content
	if len(got) != 3 || got[1].Type != protocol.BlockImage || got[1].MimeType != "image/png" || got[1].Width != 3 ||
		got[1].MediaID != got[2].MediaID || got[1].FileName != "a.png" {
		t.Errorf("content %+v", got)
	}
	kept, err := os.ReadDir(filepath.Join(string(r.Dir), "media"))
	if err != nil || len(kept) != 1 || kept[0].Name() != got[1].MediaID {
		t.Errorf("kept %v, %v", kept, err)
	}
	var shown protocol.Media
	p.Do(protocol.MethodMediaGet, protocol.MediaGetParams{ID: got[1].MediaID}, &shown)
	if shown.MimeType != "image/png" || shown.Content != gatewaytest.Picture(t, 3) {
		t.Errorf("the picture as a client gets it: %+v", shown)
	}
	for _, id := range []string{"", "../hearth.db", "no-such-picture"} {
		if err := p.Call(t.Context(), protocol.MethodMediaGet, protocol.MediaGetParams{ID: id}, nil); err == nil {
			t.Errorf("a picture called %q was given out", id)
		}
	}
	params.Attachments[0].Content = gatewaytest.Picture(t, 4)
	if err := p.Call(t.Context(), protocol.MethodChatSend, params, nil); err == nil || !strings.Contains(err.Error(), "idempotency") {
		t.Errorf("another picture under the same key: %v", err)
	}
	if err := os.Remove(filepath.Join(string(r.Dir), "media", got[1].MediaID)); err != nil {
		t.Fatal(err)
	}
	p.Send("main", "k3", "Still?")
	if end := p.Ended("k3"); end.Message.Text() != "I see 0 pictures." {
		t.Errorf("after the picture went: %q %s", end.Message.Text(), end.ErrorMessage)
	}
}

// What is no picture, too much of it, or for a model without eyes is refused in
// words, and nothing of it is kept.
func TestPicturesAreRefused(t *testing.T) {
	r := seeingRig(t)
	p := r.Connect()
	ok := protocol.Attachment{Content: gatewaytest.Picture(t, 2)}
	text := func(s string) protocol.Attachment {
		return protocol.Attachment{MimeType: "image/png", FileName: "x.png", Content: base64.StdEncoding.EncodeToString([]byte(s))}
	}
	for name, tt := range map[string]struct {
		list []protocol.Attachment
		want string
	}{
		"page":       {[]protocol.Attachment{ok, text("<html>")}, "Attachment 2 (x.png) cannot be sent: this is no picture"},
		"not base64": {[]protocol.Attachment{{Content: "***"}}, "its content is not base64"},
		"large":      {[]protocol.Attachment{text(strings.Repeat("x", 5<<20+1))}, "larger than 5 MB"},
		"many":       {make([]protocol.Attachment, 9), "at most 8 files"},
	} {
		err := p.Call(t.Context(), protocol.MethodChatSend, protocol.ChatSendParams{SessionKey: "main", Message: "x", IdempotencyKey: name,
			Attachments: tt.list}, nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(string(r.Dir), "media")); !os.IsNotExist(err) {
		t.Errorf("something was kept: %v", err)
	}
	if h := p.History("main"); len(h.Messages) != 0 {
		t.Errorf("%d messages", len(h.Messages))
	}
}
