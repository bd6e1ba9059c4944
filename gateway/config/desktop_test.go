package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDesktop(t *testing.T) {
	for src, want := range map[string]Desktop{
		`{}`: {Notifications: NotifyAll},
		`{hearth:{desktop:{notifications:"requests",quietHours:{start:"22:00",end:"07:00"},keepAwake:true,quickKey:"ctrl+alt+h"}}}`: {
			NotifyRequests, QuietHours{"22:00", "07:00"}, true, "ctrl+alt+h"},
		`{hearth:{desktop:{quietHours:{start:"22:00"}}}}`: {Notifications: NotifyAll, QuietHours: QuietHours{Start: "22:00"}},
	} {
		s := open(t, place(t, src), Options{}).Snapshot()
		if len(s.Issues)+len(s.Warnings) > 0 {
			t.Error(src, s.Issues, s.Warnings)
		}
		if diff := cmp.Diff(want, s.Config.Hearth.Desktop); diff != "" {
			t.Error(src, diff)
		}
	}
	for _, src := range []string{`{hearth:{desktop:{notifications:"loud"}}}`, `{hearth:{desktop:{quietHours:{start:"9"}}}}`,
		`{hearth:{desktop:{keepAwake:"yes"}}}`} {
		if s := open(t, place(t, src), Options{}).Snapshot(); len(s.Issues) == 0 {
			t.Errorf("%s is taken", src)
		}
	}
}
