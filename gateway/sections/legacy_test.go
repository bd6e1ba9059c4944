package sections_test

import (
	"strings"
	"testing"
)

func TestModernize(t *testing.T) {
	path := place(t, `{ session: { idleMinutes: 30 /* mine */ } }`)
	f := open(t, path)
	if len(f.Snapshot().Legacy()) == 0 {
		t.Error("nothing to mend")
	}
	s, err := f.Modernize(t.Context())
	if err != nil || len(s.Legacy()) != 0 || !strings.Contains(s.Raw, "idleMinutes: 30") || !strings.Contains(s.Raw, "reset") {
		t.Errorf("%v %v\n%s", err, s.Legacy(), s.Raw)
	}
	f = open(t, place(t, `{ session: { reset: { mode: "idle" }, idleMinutes: 5 } }`))
	if l := f.Snapshot().Legacy(); len(l) != 0 {
		t.Errorf("%v", l)
	}
}
