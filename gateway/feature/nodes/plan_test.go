package nodes

import "testing"

func TestSec_A_NODE_05_PlanIsForWhatWasAsked(t *testing.T) {
	for _, c := range []struct {
		name           string
		asked, planned []string
		want           bool
	}{
		{"the same", []string{"echo", "hi"}, []string{"echo", "hi"}, true},
		{"where it was found", []string{"echo", "hi"}, []string{"/usr/bin/echo", "hi"}, true},
		{"another program", []string{"echo", "hi"}, []string{"/usr/bin/rm", "hi"}, false},
		{"its name in a folder", []string{"echo", "hi"}, []string{"/usr/bin/echo/rm", "hi"}, false},
		{"not a whole path", []string{"echo", "hi"}, []string{"./echo", "hi"}, false},
		{"another path", []string{"/bin/echo", "hi"}, []string{"/tmp/echo", "hi"}, false},
		{"other arguments", []string{"echo", "hi"}, []string{"echo", "ho"}, false},
		{"more arguments", []string{"echo"}, []string{"echo", "ho"}, false},
		{"fewer arguments", []string{"echo", "hi"}, []string{"echo"}, false},
		{"nothing", []string{"echo"}, nil, false},
		{"asked for nothing", nil, nil, false},
	} {
		if got := samePlan(c.asked, c.planned); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
