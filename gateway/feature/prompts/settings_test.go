package prompts

import (
	"regexp"
	"strings"
	"testing"
)

// A name can be typed behind a slash: those are taken that the page takes (fill.ts).
func TestNames(t *testing.T) {
	page := regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N}_-]{0,63}$`)
	good := []string{"trip", "Stand-up_2", "日報", "é1", "½", strings.Repeat("日", 64)}
	bad := []string{"", "a b", "-x", "_x", "../x", "/x", strings.Repeat("x", 65), "a\xff", "e\u0301", "x\n", "a=b"}
	for i, s := range append(good, bad...) {
		err := named(s)
		if taken := i < len(good); (err == nil) != taken || page.MatchString(s) != taken {
			t.Errorf("%q: %v", s, err)
		}
	}
}
