package prompt

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// timezone.md: the prompt names the zone and no clock, so that the same input
// gives the same bytes for ever.
func TestPromptHasTheZoneAndNoClock(t *testing.T) {
	in := Input{TimeZone: "America/Chicago", Tools: []model.ToolSpec{{Name: "session_status", Description: "Tells the time. And more."}}}
	got := System(in)
	if !strings.Contains(got, "Time zone: America/Chicago") || !strings.Contains(got, "call session_status") {
		t.Errorf("got %q", got)
	}
	if m := regexp.MustCompile(`\d\d:\d\d|20\d\d`).FindString(got); m != "" {
		t.Errorf("the prompt holds a time: %s", m)
	}
	if got != System(in) {
		t.Error("two renderings differ")
	}
	if none := System(Input{}); strings.Contains(none, "Time zone") || strings.Contains(none, "## Tools") {
		t.Errorf("empty parts are shown: %q", none)
	}
}
