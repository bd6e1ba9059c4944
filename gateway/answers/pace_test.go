package answers

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/config"
)

// agents.list[].humanDelay goes before that of the defaults.
func TestAgentsHumanDelay(t *testing.T) {
	c := config.Default()
	c.Agents.Defaults.HumanDelay = config.HumanDelay{Mode: "natural"}
	c.Agents.List = []config.Agent{{ID: "calm", HumanDelay: &config.HumanDelay{Mode: "custom", MinMs: 5, MaxMs: 9}}, {ID: "other"}}
	for agent, want := range map[string]string{"calm": "custom", "other": "natural", "main": "natural"} {
		if got := paceOf(c, agent); got.Mode != want {
			t.Errorf("%s: %+v", agent, got)
		}
	}
}
