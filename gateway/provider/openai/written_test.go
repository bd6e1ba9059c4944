package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// whole is a request as encoding/json writes it in one piece.
type whole struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	Tools    []tool    `json:"tools,omitempty"`
	settings
}

// A request that is put together of what was written before is the one that
// encoding/json would have written, the first time and every other.
func TestRequestOfKeptMessages(t *testing.T) {
	call := &model.ToolCall{ID: "c1", Name: "x", Arguments: json.RawMessage(`{"a":"<é>"}`)}
	msgs := []model.Message{
		{Role: model.RoleUser, Blocks: []model.Block{{Text: "a <question> & \"more\"\u2028 \xff"}}},
		{Role: model.RoleAssistant, Blocks: []model.Block{{Thinking: "hm", Signature: "d:1"}, {Text: "one"}, {Text: "two"}, {ToolCall: call}}},
		{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: &model.ToolResult{CallID: "c1", Name: "x", Text: "result\x00"}}}},
		{Role: model.RoleAssistant, Blocks: []model.Block{{Text: "an answer"}}},
		{Role: model.RoleUser, Blocks: []model.Block{{Text: "and now?"}}},
	}
	for i := range msgs {
		msgs[i] = msgs[i].Keep()
	}
	tools := []model.ToolSpec{{Name: "x", Description: "does <x>", Schema: json.RawMessage("{\"type\" : \"object\"}")}, {Name: "y"}}
	p := &provider{service: wire.Service{Stable: &wire.Stable{}}}
	for range 3 {
		for _, req := range []model.Request{
			{Model: "m", System: "be <kind>", Messages: msgs, Tools: tools, MaxTokens: 7, Thinking: "low"},
			{Model: "m", Messages: msgs[:1]},
			{Model: "m", System: "x", Messages: msgs[:4], Tools: tools[1:]},
		} {
			want := whole{Model: req.Model, settings: p.settings(req)}
			if req.System != "" {
				want.Messages = append(want.Messages, message{Role: "system", Content: req.System})
			}
			for _, m := range req.Messages {
				if m.Role == model.RoleTool {
					r := m.Blocks[0].ToolResult
					want.Messages = append(want.Messages, message{Role: "tool", Content: r.Text, ToolCallID: r.CallID})
					continue
				}
				want.Messages = append(want.Messages, messageOf(m))
			}
			for _, s := range req.Tools {
				want.Tools = append(want.Tools, tool{Type: "function", Function: toolFunction{s.Name, s.Description, s.Schema}})
			}
			raw, err := wire.JSON(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.ask(req).Bytes()
			if err != nil || strings.TrimSpace(string(got)) != string(raw) {
				t.Errorf("got  %s (%v)\nwant %s", got, err, raw)
			}
		}
	}
}

// A message that is given other blocks is written anew, and a tool that changed is
// too.
func TestWhatChangedIsWrittenAnew(t *testing.T) {
	p := &provider{service: wire.Service{Stable: &wire.Stable{}}}
	m := model.Message{Role: model.RoleUser, Blocks: []model.Block{{Text: "first"}}}.Keep()
	tools := []model.ToolSpec{{Name: "x", Description: "first"}}
	asked := func() string {
		raw, err := p.ask(model.Request{Model: "m", Messages: []model.Message{m}, Tools: tools}).Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if got := asked(); strings.Count(got, "first") != 2 {
		t.Fatal(got)
	}
	m.Blocks = []model.Block{{Text: "second"}}
	tools[0].Description = "second"
	if got := asked(); strings.Count(got, "second") != 2 || strings.Contains(got, "first") {
		t.Error(got)
	}
}
