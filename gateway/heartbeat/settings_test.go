package heartbeat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/heartbeat"
)

func read(text string) *config.Snapshot {
	return config.Read(text, config.Options{Sections: config.Sections{heartbeat.Section}})
}

func TestSettings(t *testing.T) {
	s := read(`{ agents: { defaults: { heartbeat: { every: "1h30m", target: "last", ackMaxChars: 5, prompt: "Look.",
		includeSystemPromptSection: false, activeHours: { start: "08:00", end: "24:00", timezone: "user" } } } } }`)
	want := heartbeat.Settings{Every: "1h30m", Prompt: "Look.", Target: "last", DirectPolicy: "allow", AckMaxChars: 5,
		ActiveHours: heartbeat.ActiveHours{Start: "08:00", End: "24:00", Timezone: "user"}}
	got := heartbeat.Section.Of(s.Config)
	if d := cmp.Diff(want, got); d != "" || len(s.Issues) > 0 || got.Interval() != 90*time.Minute {
		t.Error(d, s.Issues)
	}
	if none := heartbeat.Section.Of(read(`{}`).Config); none.Interval() != 0 || none.AckMaxChars != 300 || none.Target != "none" {
		t.Errorf("%+v", none)
	}
}

func TestSettingsMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{ every: "5s" }`:                              "a minute at least",
		`{ every: "often" }`:                           "a minute at least",
		`{ target: "tele gram" }`:                      "none",
		`{ activeHours: { start: "8:00", end: "9" } }`: "time of day",
		`{ activeHours: { start: "08:00" } }`:          "both start and end",
		`"always"`:                                     "an object",
	} {
		s := read(`{ agents: { defaults: { heartbeat: ` + text + ` } } }`)
		if len(s.Issues) == 0 || !strings.Contains(s.Issues[0].String(), want) {
			t.Errorf("%s: %v", text, s.Issues)
		}
	}
}

// TestAgents: the settings of an agent lie over those of all, and take the others'
// heartbeats away.
func TestAgents(t *testing.T) {
	c := config.Read(`{ agents: { defaults: { heartbeat: { every: "30m", target: "last", prompt: "All." } }, list: [
		{ id: "main", default: true }, { id: "ops", heartbeat: { every: "1h", session: "main", isolatedSession: false, to: "42",
		target: "telegram", directPolicy: "block" } } ] } }`, config.Options{Sections: config.Sections{agents.Section, heartbeat.Section,
		heartbeat.AgentSection}})
	if len(c.Issues) > 0 {
		t.Fatal(c.Issues)
	}
	all := heartbeat.Of(c.Config, []string{"main", "ops"}, "main")
	ops := all["ops"]
	if len(all) != 1 || ops.Interval() != time.Hour || ops.Prompt != "All." || ops.Session != "main" || *ops.Isolated || ops.To != "42" ||
		ops.Target != "telegram" || ops.DirectPolicy != "block" || ops.AckMaxChars != 300 || ops.Timeout() != 10*time.Minute {
		t.Errorf("%+v", all)
	}
	if all := heartbeat.Of(read(`{}`).Config, []string{"main", "ops"}, "main"); len(all) != 1 || all["main"].Interval() != 0 {
		t.Errorf("%+v", all)
	}
}
