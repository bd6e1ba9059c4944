package prompts_test

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestPromptsAreListedWithTheirFields(t *testing.T) {
	p := gatewaytest.New(t, "chat/echo").Connect()
	var l protocol.PromptsList
	p.Do(protocol.MethodPromptsList, struct{}{}, &l)
	if l.Prompts == nil || len(l.Prompts) != 0 {
		t.Fatalf("%+v", l)
	}
	p.Do(protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: `{hearth: {prompts: {
		trip: {about: "A weekend away", text: "Plan a trip to {{city}} in {{ month }}. {{city}} by train, {not this}, {{}} {{two\nlines}}."},
		standup: {text: "What did I do yesterday?"},
	}}}`}, nil)
	p.Do(protocol.MethodPromptsList, struct{}{}, &l)
	if len(l.Prompts) != 2 || l.Prompts[0].Name != "standup" || len(l.Prompts[0].Fields) != 0 || l.Prompts[0].Fields == nil {
		t.Fatalf("%+v", l)
	}
	if trip := l.Prompts[1]; trip.About != "A weekend away" || strings.Join(trip.Fields, ",") != "city,month" {
		t.Errorf("%+v", trip)
	}
}

func TestPromptsThatCannotBeAreRefused(t *testing.T) {
	p := gatewaytest.New(t, "chat/echo").Connect()
	for why, raw := range map[string]string{
		"letters, digits": `{hearth: {prompts: {"../x y": {text: "a"}}}}`,
		"control":         `{hearth: {prompts: {bell: {text: "a\u0007"}}}}`,
		"text":            `{hearth: {prompts: {long: {text: "` + strings.Repeat("a", 33<<10) + `"}}}}`,
	} {
		err := p.Call(t.Context(), protocol.MethodConfigPatch, protocol.ConfigSetParams{Raw: raw}, nil)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
}
