package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestShort(t *testing.T) {
	for _, tc := range []struct {
		name, got, want string
	}{
		{"fits", Ellipsis("grüße", 5), "grüße"},
		{"is cut", Ellipsis("grüße", 4), "grü…"},
		{"one", Ellipsis("grüße", 1), "…"},
		{"none", Ellipsis("grüße", 0), ""},
		{"empty", Ellipsis("", 3), ""},
		{"first", First("grüße", 3), "grü"},
		{"first of less", First("gr", 3), "gr"},
		{"prefix", Prefix("grüße", 3), "gr"},
		{"prefix with the whole character", Prefix("grüße", 4), "grü"},
		{"prefix of less", Prefix("gr", 3), "gr"},
		{"no prefix", Prefix("grüße", 0), ""},
		{"line", Line(" a\n\tb  c\u00a0d "), "a b c d"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, tc.got, tc.want)
		}
	}
}

// Whatever comes, limits hold, and a good text stays one.
func TestAnyTextFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "s")
		n := rapid.IntRange(0, 40).Draw(t, "n")
		short, prefix := Ellipsis(s, n), Prefix(s, n)
		if utf8.RuneCountInString(short) > n || len(prefix) > n {
			t.Fatalf("%q and %q are longer than %d", short, prefix, n)
		}
		if !strings.HasPrefix(s, prefix) || !strings.HasPrefix(s, strings.TrimSuffix(short, more)) {
			t.Fatalf("%q and %q are not of %q", short, prefix, s)
		}
		if utf8.ValidString(s) && (!utf8.ValidString(short) || !utf8.ValidString(prefix)) {
			t.Fatalf("%q and %q are cut inside of a character", short, prefix)
		}
	})
}
