package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Signed reasoning is kept with the message and goes back to the model as it
// came; unsigned reasoning is kept for people. Clients see no signature.
func TestReasoningGoesBack(t *testing.T) {
	m := &Manager{Options: Options{Now: time.Now, NewID: func() string { return "id" }}}
	r := &run{rec: Run{ID: "r"}}
	call := &model.ToolCall{ID: "c", Name: "x", Arguments: []byte(`{}`)}
	blocks := []model.Block{{Thinking: "a", Signature: "d:1"}, {Signature: "d:hidden"}, {Thinking: "unsigned"}, {Text: "said"},
		{ToolCall: call}}
	msg := m.assistantMessage(r, model.Message{Role: model.RoleAssistant, Blocks: blocks}, ending{})
	back, ok := messageToModel(*msg)
	want := model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{Thinking: "a", Signature: "d:1"}, {Signature: "d:hidden"},
		{Text: "said"}, {ToolCall: call}}}
	if diff := cmp.Diff(want, back); diff != "" || !ok {
		t.Error(diff)
	}
	var types []string
	for _, b := range shown(msg).Content {
		types = append(types, b.Type+" "+b.Thinking+b.ThinkingSignature)
	}
	if diff := cmp.Diff([]string{"thinking a", "thinking unsigned", "text ", "toolCall "}, types); diff != "" {
		t.Error(diff)
	}
	if msg.Content[0].ThinkingSignature == "" {
		t.Error("the stored message lost its signature")
	}
	only := protocol.Message{Role: protocol.MessageAssistant, Content: msg.Content[:2]}
	if _, ok := messageToModel(only); ok {
		t.Error("a message of reasoning alone would be sent")
	}
}
