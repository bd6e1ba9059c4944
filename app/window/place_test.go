package window

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// A link from outside leads to a harmless place or nowhere.
func TestSec_A_UI_LinksFromOutside(t *testing.T) {
	for link, want := range map[string]string{
		"hearth://settings/usage": "settings/usage", "hearth://undelivered": "undelivered", "hearth://settings": "settings",
		"hearth://chat/agent:main:main": "", "hearth://pair/abc": "", "http://settings/usage": "", "hearth:settings": "", "\x00": "", "hearth://settings/%zz": "",
	} {
		if got := placeOf(link); got != want {
			t.Errorf("%q leads to %q, want %q", link, got, want)
		}
	}
}

func TestARememberedPlaceMustMakeSense(t *testing.T) {
	w := &window{dir: statedir.Dir(t.TempDir())}
	first := place{Width: firstWidth, Height: firstHeight}
	for text, want := range map[string]place{
		"":                           first,
		"{":                          first,
		`{"width":10,"height":10}`:   first,
		`{"width":9e9,"height":500}`: first,
		`{"width":800,"height":600,"x":5,"y":6,"placed":true}`:     {Width: 800, Height: 600, X: 5, Y: 6, Placed: true},
		`{"width":800,"height":600,"x":90000,"y":6,"placed":true}`: {Width: 800, Height: 600, X: 90000, Y: 6},
	} {
		if err := os.WriteFile(w.file(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, w.remembered()); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
