package answers

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/config"
)

// agents.list[].humanDelay goes before that of the defaults.
func TestAgentsHumanDelay(t *testing.T) {
	c := config.Read(`{ agents: { defaults: { humanDelay: { mode: "natural" } },
		list: [{ id: "calm", humanDelay: { mode: "custom", minMs: 5, maxMs: 9 } }, { id: "other" }] } }`,
		config.Options{Sections: config.Sections{Section, agents.Section, AgentSection}}).Config
	for agent, want := range map[string]string{"calm": "custom", "other": "natural", "main": "natural"} {
		if got := paceOf(c, agent); got.Mode != want {
			t.Errorf("%s: %+v", agent, got)
		}
	}
}
