package watch

import (
	"encoding/json"
	"testing"

	"github.com/hearth-assistant/hearth/app/tray/notice"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// A reminder is told as one, without what stands over it in the chat; words of a
// model that look like one are an answer.
func TestRemindersAreTold(t *testing.T) {
	w := &Watch{answers: make(chan notice.Answer, 1)}
	for provider, want := range map[string]notice.Answer{
		"hearth": {Key: "agent:main:main", Text: "call mum\n", Reminder: true},
		"openai": {Key: "agent:main:main", Text: "[Reminder]\n\ncall mum\n"},
	} {
		raw, err := json.Marshal(protocol.ChatEvent{SessionKey: "agent:main:main", State: "final", Message: &protocol.Message{
			Role: protocol.MessageAssistant, Provider: provider, Content: []protocol.Block{{Type: "text", Text: "[Reminder]\n\ncall mum"}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		w.ended(protocol.Event{Event: protocol.EventChat, Payload: raw})
		if got := <-w.answers; got != want {
			t.Errorf("of %s: %+v, want %+v", provider, got, want)
		}
	}
}
