package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Reasoning stays where it was and in the pieces that were signed.
func TestWordsKeepTheirOrder(t *testing.T) {
	var w words
	w.thinking("first ", "")
	w.thinking("thought", "")
	w.thinking("", "d:1")
	w.thinking("", "d:hidden")
	w.text("I ")
	w.text("look.")
	w.thinking("again", "")
	w.thinking("", "d:2")
	w.call(model.ToolCall{ID: "a"})
	w.call(model.ToolCall{ID: "b"})
	w.thinking("unsigned", "")
	want := []model.Block{
		{Thinking: "first thought", Signature: "d:1"}, {Signature: "d:hidden"}, {Text: "I look."},
		{Thinking: "again", Signature: "d:2"}, {ToolCall: &model.ToolCall{ID: "a"}}, {ToolCall: &model.ToolCall{ID: "b"}}, {Thinking: "unsigned"},
	}
	if diff := cmp.Diff(want, w.blocks()); diff != "" {
		t.Error(diff)
	}
}
