package command

import (
	"fmt"
	"strings"
	"testing"
)

func isTwo(name string) bool { return name == "two" || name == "b/m2:7b" }

// TestDirectives: directives are taken out of a message.
func TestDirectives(t *testing.T) {
	for _, tc := range []struct{ text, found, rest string }{
		{"/think high what is 1+1", "think=high", "what is 1+1"},
		{"please /think high now", "think=high", "please now"},
		{"what is 1+1 /think:high", "think=high", "what is 1+1"},
		{"what is 1+1? /think high.", "think=high", "what is 1+1?"},
		{"/think@hearthbot HIGH what", "think=high", "what"},
		{"@hearthbot /think: high what", "think=high", "@hearthbot what"},
		{"/think high /verbose full /reasoning on hi", "think=high verbose=full reasoning=on", "hi"},
		{"/think high\nwhat  is\n\n  1+1", "think=high", "what  is\n\n  1+1"},
		{"first\n/model b/m2:7b\nsecond  line", "model=b/m2:7b", "first\nsecond  line"},
		{"/model two, what is 1+1", "model=two", "what is 1+1"},
		{"/think high", "think=high", ""},
		{"/think high /model two", "think=high model=two", ""},
		// What stays as it is.
		{"/think hihg what", "", "/think hihg what"},
		{"what does /think do?", "", "what does /think do?"},
		{"/model three what", "", "/model three what"},
		{"see http://x/think high", "", "see http://x/think high"},
		{"write `/think high` there", "", "write `/think high` there"},
		{"> /think high\nno", "", "> /think high\nno"},
		{"```\n/think high\n```\n", "", "```\n/think high\n```\n"},
		{"/send off now", "", "/send off now"},
		{"/etc/think high", "", "/etc/think high"},
		{"", "", ""},
	} {
		found, rest := Directives(tc.text, isTwo)
		var got []string
		for _, d := range found {
			got = append(got, d.Name+"="+d.Value)
		}
		if s := strings.Join(got, " "); s != tc.found || rest != tc.rest {
			t.Errorf("%q: %s, %q", tc.text, s, rest)
		}
	}
}

func FuzzDirectives(f *testing.F) {
	f.Add("please /think high now")
	f.Add("`/think low` /model two\n\n/verbose on")
	f.Fuzz(func(t *testing.T, s string) {
		found, rest := Directives(s, isTwo)
		if len(found) == 0 && rest != s {
			t.Errorf("%q became %q", s, rest)
		}
		if again, more := Directives(rest, isTwo); len(found) > 0 && len(rest) >= len(s) {
			t.Errorf("%q grew to %q (%v, %q)", s, rest, fmt.Sprint(again), more)
		}
	})
}
