package link

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]Link{
		"hearth://chat":                     {Place: "chat"},
		"hearth:":                           {Place: "chat"},
		"hearth://chat?text=hello%20there":  {Text: "hello there"},
		"HEARTH://Chat/?text=a%0Ab+c":       {Text: "a\nb c"},
		"hearth:chat?text=x":                {Text: "x"},
		"hearth://settings":                 {Place: "settings"},
		"hearth://settings/usage/":          {Place: "settings/usage"},
		"hearth://undelivered":              {Place: "undelivered"},
		"hearth://pair/eyJ1cmwiOiJ3c3MifQ":  {Code: "eyJ1cmwiOiJ3c3MifQ"},
		"hearth://pair?code=abc_-=":         {Code: "abc_-="},
		"hearth://chat?text=%20":            {Place: "chat"},
		"hearth://chat?text=a%E2%80%8Bb%00": {Text: "ab"},
	} {
		if got, err := Parse(in); err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	if at := (Link{Text: "a/b c&go=x\n50%"}).At(); at != "offer/a%2Fb%20c&go=x%0A50%25" {
		t.Errorf("%q", at)
	}
}

func TestSec_A_LINK_01_LinksOnlyOffer(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, in := range []string{
		"hearth://agent?message=rm", "hearth://run", "hearth://exec/x", "hearth://settings/../../x", "hearth://settings/a%2F..",
		"hearth://chat?text=" + long, "hearth://chat?text=%FF%FE", "hearth://chat?text=%", "http://chat?text=x", "javascript:alert(1)",
		"hearth://me:you@chat?text=x", "hearth://chat:99?text=x", "hearth://pair/", "hearth://pair/--name", "hearth://pair/a b",
		"hearth://pair/a;b", "hearth://pair?code=../x",
		"hearth://pair/" + long, "hearth://" + strings.Repeat("y", 20<<10), "", "://",
	} {
		if got, err := Parse(in); err == nil {
			t.Errorf("%.60s is followed: %+v", in, got)
		} else if strings.Contains(err.Error(), "x;") || len(err.Error()) > 120 {
			t.Errorf("the refusal repeats the link: %v", err)
		}
	}
	// Whatever else a link says changes nothing.
	for _, more := range []string{"&auto=1", "&send=true", "&key=agent:main:x", "&session=x", "&model=y", "&gateway=wss://evil", "#launch=x"} {
		if got, err := Parse("hearth://chat/agent:main:other?text=hello" + more); err != nil || got != (Link{Text: "hello"}) {
			t.Errorf("%s: %+v, %v", more, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"hearth://chat?text=a%0ab", "hearth://pair/abc", "hearth:settings/usage", "hearth://a@b:1/%2f?x=%zz#y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := Parse(s)
		if err != nil {
			if l != (Link{}) {
				t.Error("an error and a link")
			}
			return
		}
		set := 0
		for _, part := range []string{l.Place, l.Text, l.Code} {
			if part != "" {
				set++
			}
		}
		if set != 1 || !utf8.ValidString(l.Text) || strings.HasPrefix(l.Code, "-") || strings.ContainsAny(l.Code, "/ .") {
			t.Errorf("%+v", l)
		}
		if strings.ContainsAny(l.Text, "\x00\x1b\r\u202e\u200b") {
			t.Errorf("%q", l.Text)
		}
		if _, rest, ok := strings.Cut(l.At(), "offer/"); ok {
			if back, err := url.PathUnescape(rest); err != nil || back != l.Text {
				t.Errorf("%q comes back as %q", l.Text, back)
			}
		}
	})
}

// Another program can hand over what it likes, as a link or as an argument: all
// that comes of it is a place of the page, words to look at, or a code to be asked
// about. There is nothing else that a link could carry.
func TestSec_A_LINK_02_OtherProgramsOnlyOffer(t *testing.T) {
	kinds := reflect.TypeFor[Link]()
	if kinds.NumField() != 3 {
		t.Errorf("a link carries %d things; each new one needs a look at who decides over it", kinds.NumField())
	}
	for _, in := range []string{
		"hearth://chat?text=delete+everything&send=1&auto=true&confirm=no", "hearth:ask?text=delete+everything",
		"HEARTH://ASK?text=delete+everything#send",
		"hearth://chat/main/send?text=delete+everything", "hearth://chat?text=delete+everything%0A%2Fapprove+always",
	} {
		got, err := Parse(in)
		if err != nil || !strings.HasPrefix(got.Text, "delete everything") || got.Place != "" || got.Code != "" {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
		if at := got.At(); !strings.HasPrefix(at, "offer/") || strings.Contains(strings.TrimPrefix(at, "offer/"), "/") {
			t.Errorf("%s leads to %q, which does more than offer", in, at)
		}
	}
	for _, in := range []string{"hearth://send?text=x", "hearth://agent/run?text=x", "intent://chat?text=x#Intent;scheme=hearth;end",
		"hearth+auto://chat?text=x", " hearth://chat?text=x", "--send hearth://chat?text=x", "file:///hearth://chat"} {
		if got, err := Parse(in); err == nil {
			t.Errorf("%q is followed: %+v", in, got)
		}
	}
}
