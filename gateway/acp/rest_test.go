package acp

import "testing"

// The end of a run may come before its last words.
func TestRest(t *testing.T) {
	for _, c := range []struct{ told, message, want string }{
		{"", "", ""}, {"", "all", "all"}, {"al", "all", "l"}, {"all", "all", ""}, {"x", "", ""},
		{"first\n\n", "second", "second"}, {"first\n\nsec", "second", "ond"}, {"first\n\nsecond", "second", ""},
		{"fir", "second", "\n\nsecond"}, {"first s", "second", "\n\nsecond"}, {"a\n\nb", "a\n\nb c", " c"},
	} {
		if got := rest(c.told, c.message); got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.told, c.message, got, c.want)
		}
	}
}
