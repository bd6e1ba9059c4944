package session

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func historyText(h protocol.ChatHistory) string {
	raw, err := json.Marshal(h)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// TestSec_A_SEC_05_ArgumentsOfCalls: a secret that a model puts into the arguments
// of a call reaches the tool, and neither the history nor the store.
func TestSec_A_SEC_05_ArgumentsOfCalls(t *testing.T) {
	for _, args := range []string{`{"url":"https://x.example/?k=sk-canary-0001"}`, `{"text":"pass\"word-of-1234"}`} {
		b := newBench(t, func(_ context.Context, n int, _ model.Request, yield func(model.Event) bool) {
			if n > 0 {
				say(yield, "done")
				return
			}
			yield(model.Event{Kind: model.EventToolCall, Call: &model.ToolCall{ID: "p", Name: "work", Arguments: []byte(args)}})
			yield(model.Event{Kind: model.EventStop, Stop: model.StopTool})
		}, nil, policy(Steer))
		b.Redact = func(s string) string {
			return strings.NewReplacer("sk-canary-0001", "[hidden]", `pass\"word-of-1234`, "[hidden]").Replace(s)
		}
		b.must("r", "go")
		b.wait("r")
		defer b.close()
		h, err := b.History(t.Context(), benchKey, protocol.ChatHistoryParams{})
		if err != nil {
			t.Fatal(err)
		}
		if all := historyText(h); strings.Contains(all, "canary") || strings.Contains(all, "word-of-1234") || !strings.Contains(all, "work") {
			t.Errorf("the history holds it: %s", all)
		}
		if raw, err := os.ReadFile(b.path); err != nil || strings.Contains(string(raw), "sk-canary") ||
			strings.Contains(string(raw), "word-of-1234") {
			t.Errorf("the store holds it: %v", err)
		}
	}
}
