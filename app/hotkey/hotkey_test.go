package hotkey

import "testing"

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		Default: "Ctrl+Alt+Space", "Ctrl + Shift + K": "Ctrl+Shift+K", "super+f12": "Super+F12", "alt+7": "Alt+7", "cmd+shift+h": "Shift+Super+H",
	} {
		if c, err := Parse(in); err != nil || c.String() != want {
			t.Errorf("%s: %v, %v", in, c, err)
		}
	}
	for _, in := range []string{"", "space", "shift+a", "ctrl", "ctrl+", "+", "hyper+a", "ctrl+alt", "ctrl+f13", "ctrl+ä", "ctrl+alt+enter"} {
		if c, err := Parse(in); err == nil {
			t.Errorf("%q is taken as %v", in, c)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("ctrl+alt+space")
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := Parse(s); err == nil {
			if again, err := Parse(c.String()); err != nil || again != c {
				t.Errorf("%q: %v, %v", s, again, err)
			}
		}
	})
}
