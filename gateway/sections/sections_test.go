package sections_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram"
	"github.com/hearth-assistant/hearth/gateway/sections"
)

func networks() channel.Kinds { return channel.Kinds{telegram.Kind()} }

// TestEveryKeySaysWhatItIs: no key has two owners, and each has a help text, or
// what is above it has.
func TestEveryKeySaysWhatItIs(t *testing.T) {
	for _, fault := range sections.All(networks()).Faults() {
		t.Error(fault)
	}
}

// TestSec_A_CFG_06_NoSettingTurnsAGuardOff: no key of any section is one that turns
// a guard off for good.
func TestSec_A_CFG_06_NoSettingTurnsAGuardOff(t *testing.T) {
	alarming := regexp.MustCompile(`(?i)danger|insecure|unsafe|bypass|^disable.*(auth|check|guard)|skip.*(auth|verify|check)|noauth`)
	all := sections.All(networks()).Describe()
	for _, d := range all {
		if alarming.MatchString(d.Path[strings.LastIndexByte(d.Path, '.')+1:]) {
			t.Errorf("%s turns a guard off: it has to end by itself within a day, and be shown all the time", d.Path)
		}
	}
	if len(all) < 200 {
		t.Errorf("only %d settings were looked at", len(all))
	}
}
