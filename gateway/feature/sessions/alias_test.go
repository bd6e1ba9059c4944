package sessions_test

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
)

// Session page: "/new <model> accepts a model alias".
func TestNewTakesAnAlias(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	p.Patch(map[string]any{"agents": map[string]any{
		"defaults": map[string]any{"models": map[string]any{"chat/echo": map[string]any{}, "chat/think": map[string]any{"alias": "deep"}}}}})
	p.Say("main", "a", "/new deep what is new?")
	h := p.History("main")
	if got := h.Messages[len(h.Messages)-1].Model; got != "think" {
		t.Errorf("answered by %q; the model was given %q", got, h.Messages[0].ForAgent)
	}
}
