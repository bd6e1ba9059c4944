package session

import (
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/agent"
	"github.com/hearth-assistant/hearth/gateway/model"
)

// What a service counts goes before the estimate; the built-in guide fills nothing.
func TestHowFullTheWindowIs(t *testing.T) {
	said := model.Message{Blocks: []model.Block{{Text: strings.Repeat("a", 300)}}}
	counted := ending{sent: 50}
	counted.fill(agent.Event{Message: said, Last: model.Usage{Input: 10, CacheRead: 30, Output: 7}})
	if counted.used != 47 {
		t.Errorf("counted: %d", counted.used)
	}
	guessed := ending{sent: estimate(agent.Turn{System: strings.Repeat("s", 134), Messages: []model.Message{{Blocks: []model.Block{{}}}}})}
	guessed.fill(agent.Event{Message: said})
	if guessed.used != 150 {
		t.Errorf("guessed: %d", guessed.used)
	}
	guide := ending{builtIn: true, sent: 50}
	if guide.fill(agent.Event{Message: said}); guide.used != 0 {
		t.Errorf("the guide: %d", guide.used)
	}
}
