package settings_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/feature/settings"
)

func read(text string) *config.Snapshot {
	return config.Read(text, config.Options{Sections: config.Sections{settings.DesktopSection}})
}

func TestDesktop(t *testing.T) {
	for src, want := range map[string]settings.Desktop{
		`{}`: {Notifications: "all"},
		`{hearth:{desktop:{notifications:"requests",quietHours:{start:"22:00",end:"07:00"},keepAwake:true,
			quickKey:"ctrl+alt+h"}}}`: {"requests", "22:00", "07:00", true, "ctrl+alt+h"},
		`{hearth:{desktop:{quietHours:{start:"22:00"}}}}`: {Notifications: "all", QuietStart: "22:00"},
	} {
		s := read(src)
		half := want.QuietStart != "" && want.QuietEnd == "" // a form sets one after the other, and is told
		if warned := len(s.Warnings) > 0; len(s.Issues) > 0 || warned != half {
			t.Error(src, s.Issues, s.Warnings)
		}
		if diff := cmp.Diff(want, settings.DesktopSection.Of(s.Config)); diff != "" {
			t.Error(src, diff)
		}
	}
	for _, src := range []string{`{hearth:{desktop:{notifications:"loud"}}}`, `{hearth:{desktop:{quietHours:{start:"9"}}}}`,
		`{hearth:{desktop:{keepAwake:"yes"}}}`} {
		if s := read(src); len(s.Issues) == 0 {
			t.Errorf("%s is taken", src)
		}
	}
}
