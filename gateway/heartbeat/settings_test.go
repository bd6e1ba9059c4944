package heartbeat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/heartbeat"
)

func read(text string) *config.Snapshot {
	return config.Read(text, config.Options{Sections: config.Sections{heartbeat.Section}})
}

func TestSettings(t *testing.T) {
	s := read(`{ agents: { defaults: { heartbeat: { every: "1h30m", target: "last", ackMaxChars: 5, prompt: "Look.",
		includeSystemPromptSection: false, activeHours: { start: "08:00", end: "24:00", timezone: "user" } } } } }`)
	want := heartbeat.Settings{Every: "1h30m", Prompt: "Look.", Target: "last", AckMaxChars: 5,
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
		`{ target: "telegram" }`:                       "none",
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
