package feed_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/watch/feed"
	"github.com/hearth-assistant/hearth/gateway/watch/watchtest"
)

func rss(entries ...string) string {
	return `<?xml version="1.0"?><!-- x --><rss version="2.0"><channel><title>News</title>` + strings.Join(entries, "") + `</channel></rss>`
}

func item(n int) string {
	return fmt.Sprintf("<item><guid>g%d</guid><title>News %d.</title><link>https://example.org/%d</link><description>&lt;p&gt;text&lt;/p&gt;"+
		"</description></item>", n, n, n)
}

func TestConformance(t *testing.T) {
	watchtest.Run(t, func(t *testing.T) *watchtest.World {
		site, by := watchtest.NewSite(t, "application/rss+xml", rss(item(0), item(-1)))
		s, err := feed.New(site.URL, by)
		if err != nil {
			t.Fatal(err)
		}
		put := func(s string) func(*testing.T) { return func(*testing.T) { site.Put(s) } }
		many := make([]string, 5000)
		for i := range many {
			many[i] = item(10_000 + i)
		}
		return &watchtest.World{
			Source: s,
			Change: func(_ *testing.T, n int) string {
				// the oldest go, as in every feed
				site.Put(rss(item(n), item(n-1), item(n-2)))
				return fmt.Sprintf("News %d.", n)
			},
			Away: site.Away,
			Hostile: []func(*testing.T){
				put(""), put("<html>no feed</html>"), put(rss(many...)), put("<rss>" + strings.Repeat("<a>", 300_000)),
				put(`<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>` + rss("<item><title>&b;</title></item>")),
				put(rss("<item><title>" + strings.Repeat("x", 3<<20) + "</title></item>")), put("{" + strings.Repeat("[", 100_000)),
				put(`<!DOCTYPE x SYSTEM "file:///etc/passwd">` + rss("<item><title>x</title></item>")),
			},
			Mend: put(rss(item(-1), item(-2), item(0))),
		}
	})
}

// The three kinds of feeds, as they are written.
func TestKinds(t *testing.T) {
	for name, c := range map[string]struct{ body, id, title, link, text string }{
		"rss": {rss(item(7)), "g7", "News 7.", "https://example.org/7", "text"},
		"rdf": {`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/>` +
			`<item><title>T</title><link>https://example.org/r</link></item></rdf:RDF>`, "https://example.org/r", "T", "https://example.org/r", ""},
		"atom": {`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>i</id><title type="html">A &amp;amp; B</title>` +
			`<link rel="self" href="https://example.org/s"/><link rel="alternate" href="https://example.org/a"/><summary>s</summary></entry></feed>`,
			"i", "A & B", "https://example.org/a", "s"},
		"json": {`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":3,"url":"https://example.org/j","title":"J","content_html":"<b>x</b>"}]}`,
			"3", "J", "https://example.org/j", "x"},
	} {
		items, err := feed.Parse([]byte(c.body))
		if err != nil || len(items) != 1 {
			t.Errorf("%s: %v %+v", name, err, items)
			continue
		}
		if it := items[0]; it.ID != c.id || it.Title != c.title || it.Link != c.link || it.Text != c.text {
			t.Errorf("%s: %+v", name, it)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(rss(item(1))))
	f.Add([]byte(`{"version":"https://jsonfeed.org/version/1","items":[{"id":[]}]}`))
	f.Add([]byte("\xef\xbb\xbf<?xml?><!--<feed>--><feed/>"))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = feed.Parse(b) })
}
