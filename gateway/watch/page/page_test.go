package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/watch/page"
	"github.com/hearth-assistant/hearth/gateway/watch/watchtest"
)

func body(part string) string {
	return "<html><body><h1>Shop</h1><div id=price>" + part + "</div><script>var x=1</script></body></html>"
}

func TestConformance(t *testing.T) {
	watchtest.Run(t, func(t *testing.T) *watchtest.World {
		site, by := watchtest.NewSite(t, "text/html", body("100"))
		s, err := page.New(site.URL, "#price", by)
		if err != nil {
			t.Fatal(err)
		}
		put := func(s string) func(*testing.T) { return func(*testing.T) { site.Put(s) } }
		return &watchtest.World{
			Source: s,
			Change: func(_ *testing.T, n int) string {
				site.Put(body(fmt.Sprint("now ", n)))
				return fmt.Sprint("now ", n)
			},
			Away: site.Away,
			Hostile: []func(*testing.T){
				put(""), put(strings.Repeat("<div id=price>", 100_000)), put(strings.Repeat("<b>", 500_000)),
				put("<div id=price>" + strings.Repeat("word ", 500_000)), put(strings.Repeat("\x00\xff<", 200_000)),
				put("<div id=price>" + strings.Repeat("x", 5<<20)), put(strings.Repeat("<table><tr><td id=price>", 20_000)),
			},
			Mend: put(body("200")),
		}
	})
}

// Only the part counts, and only what a person sees of it; what came and went is
// told line by line, and what has not changed is not sent again.
func TestPart(t *testing.T) {
	site, by := watchtest.NewSite(t, "text/html", body("<p>one</p><p>two</p>"))
	s, err := page.New(site.URL, "#price", by)
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Look(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.Look(t.Context(), first.Kept); err != nil || !again.Same || site.Asked != 1 {
		t.Errorf("%v %+v, asked %d times", err, again, site.Asked)
	}
	site.Put("<p>elsewhere</p>" + body("<p>one</p><p hidden>three</p><style>p{}</style><p>two</p>"))
	same, err := s.Look(t.Context(), first.Kept)
	if err != nil || same.Items[0].Version != first.Items[0].Version {
		t.Errorf("what is not the part counted: %v %+v", err, same)
	}
	site.Put(body("<p>one</p><p>2</p>"))
	now, err := s.Look(t.Context(), same.Kept)
	if err != nil || now.Items[0].Text != "+ 2\n- two" {
		t.Errorf("%v %+v", err, now)
	}
	for _, bad := range []string{"file:///etc/passwd", "https://u:p@example.org", "nothing"} {
		if _, err := page.New(bad, "", by); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if _, err := page.New(site.URL, "a[", by); err == nil {
		t.Error("a broken selector was taken")
	}
}
