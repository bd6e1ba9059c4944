package menu

import (
	"strings"
	"testing"
)

// TestSec_A_EXEC_13_FactsAreSeenBeforeAYes: variables, the sandbox and the text of
// scripts count as much as the command. What has no place in the menu cannot be
// allowed there, nor in a notification.
func TestSec_A_EXEC_13_FactsAreSeenBeforeAYes(t *testing.T) {
	six := []string{"Folder: /w", "Variable: A=b", "3", "4", "5", "It runs outside the sandbox."}
	for name, tc := range map[string]struct {
		a    Approval
		seen bool
	}{
		"all of it":           {Approval{Lines: six}, true},
		"one line more":       {Approval{Lines: append([]string{"Variable: C=d"}, six...)}, false},
		"a line too long":     {Approval{Lines: []string{"Variable: A=" + strings.Repeat("x", 200)}}, false},
		"what cannot be seen": {Approval{Lines: []string{"a\u202eb"}}, false},
		"a script":            {Approval{Part: true}, false},
	} {
		tc.a.ID, tc.a.Title, tc.a.From, tc.a.Here = "1", "git push", "telegram:1", true
		drawn := draw(Items(State{Link: Ready, Waiting: 1, Approvals: [3]Approval{tc.a}}, english, noon), "")
		if got := strings.Contains(drawn, string(AllowOnce)) || strings.Contains(drawn, string(AllowHere)); got != tc.seen ||
			tc.a.Seen() != tc.seen {
			t.Errorf("%s: can be allowed %v, want %v", name, got, tc.seen)
		}
		for _, l := range tc.a.Lines {
			if tc.seen && !strings.Contains(drawn, l) {
				t.Errorf("%s: %q is not shown", name, l)
			}
		}
	}
}
