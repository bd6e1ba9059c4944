package menu

import (
	"testing"
	"time"
)

// row is the row of a menu with an id, and whether it can be seen and chosen.
func row(rows []Item, id string) (found Item, shown bool) {
	for _, r := range rows {
		if r.ID == id {
			return r, !r.Hidden
		}
		if in, ok := row(r.Sub, id); in.ID != "" {
			return in, ok && !r.Hidden
		}
	}
	return Item{}, false
}

// The row is there only when there is a newer version, and it installs nothing where
// a package manager does.
func TestUpdateRow(t *testing.T) {
	for name, tc := range map[string]struct {
		update          Update
		label           string
		shown, now, how bool
	}{
		"none":             {Update{}, "", false, false, false},
		"one":              {Update{Version: "0.2.0"}, "Update available: 0.2.0", true, true, false},
		"somebody else's":  {Update{Version: "0.2.0", Blocked: "brew upgrade hearth"}, "Update available: 0.2.0", true, false, true},
		"under way":        {Update{Version: "0.2.0", Running: true}, "Updating to 0.2.0…", true, false, false},
		"words to fool us": {Update{Version: "0.2.0\u202e\nQuit"}, "Update available: 0.2.0 Quit", true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			rows := Items(State{Link: Ready, Update: tc.update}, english, time.Now())
			r, shown := row(rows, "update")
			if shown != tc.shown || shown && r.Label != tc.label {
				t.Errorf("the row is %q, shown %v", r.Label, shown)
			}
			if now, shown := row(rows, "update-now"); shown != tc.now || now.Do.Verb != Install {
				t.Errorf("installing: %+v, shown %v", now, shown)
			}
			if by, shown := row(rows, "update-by"); shown != tc.how || shown && !by.Off {
				t.Errorf("who else installs it: %+v, shown %v", by, shown)
			}
		})
	}
}
