// Package feed watches feeds: RSS, Atom and JSON Feed. An entry is told when it
// appears, and again when its title or its time changes.
package feed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mmcdole/gofeed/atom"
	"github.com/mmcdole/gofeed/rss"
	"golang.org/x/net/html"

	"github.com/hearth-assistant/hearth/gateway/watch"
)

const (
	most       = 5 << 20
	maxEntries = 2000
)

// Feed is a feed.
type Feed struct {
	url string
	by  watch.Fetcher
}

// New returns the source of a feed.
func New(address string, by watch.Fetcher) (*Feed, error) {
	u, err := watch.Address(address)
	if err != nil {
		return nil, err
	}
	return &Feed{url: u.String(), by: by}, nil
}

// Look implements watch.Source.
func (s *Feed) Look(ctx context.Context, kept json.RawMessage) (f watch.Found, err error) {
	var v watch.Validators
	if len(kept) > 0 {
		if err := json.Unmarshal(kept, &v); err != nil {
			return f, fmt.Errorf("read what was seen last: %w", err)
		}
	}
	p, same, err := watch.Get(ctx, s.by, s.url, nil, &v, most)
	if err != nil || same {
		return watch.Found{Same: same}, err
	}
	if f.Items, err = Parse(p.Body); err != nil {
		return f, err
	}
	f.Kept, err = json.Marshal(v)
	return f, err
}

// Parse reads a feed, the oldest entry first.
func Parse(body []byte) (items []watch.Item, err error) {
	switch kind(body) {
	case "rss", "rdf":
		items, err = fromRSS(body)
	case "feed":
		items, err = fromAtom(body)
	case "json":
		items, err = fromJSON(body)
	default:
		return nil, errors.New("there is no feed at that address: it is neither RSS nor Atom nor JSON Feed")
	}
	if err != nil {
		return nil, fmt.Errorf("the feed cannot be read: %w", err)
	}
	items = items[:min(len(items), maxEntries)]
	slices.Reverse(items) // feeds have the newest first
	return items, nil
}

// kind is how a feed begins.
func kind(body []byte) string {
	body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
	if bytes.HasPrefix(body, []byte("{")) {
		return "json"
	}
	for range 50 { // declarations and comments
		i := bytes.IndexByte(body, '<')
		if i < 0 || i+1 >= len(body) {
			return ""
		}
		body = body[i+1:]
		end := ">"
		switch {
		case bytes.HasPrefix(body, []byte("!--")):
			end = "-->"
		case body[0] == '?', body[0] == '!':
		default:
			name := string(body[:min(len(body), 40)])
			name = name[:strings.IndexFunc(name+" ", func(r rune) bool { return strings.ContainsRune(" \t\r\n>/", r) })]
			if i := strings.LastIndexByte(name, ':'); i >= 0 {
				name = name[i+1:]
			}
			return strings.ToLower(name)
		}
		if i = bytes.Index(body, []byte(end)); i < 0 {
			return ""
		}
		body = body[i+len(end):]
	}
	return ""
}

func entry(id, title, link, text, version string) watch.Item {
	title, link = plain(title), strings.TrimSpace(link)
	return watch.Item{
		ID: cmp.Or(strings.TrimSpace(id), link, watch.Sum(title, text)), Version: watch.Sum(title, version),
		Title: cmp.Or(title, link), Link: link, Text: plain(text),
	}
}

func fromRSS(body []byte) (out []watch.Item, err error) {
	feed, err := (&rss.Parser{}).Parse(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, it := range feed.Items {
		id := ""
		if it.GUID != nil {
			id = it.GUID.Value
		}
		out = append(out, entry(id, it.Title, it.Link, cmp.Or(it.Description, it.Content), it.PubDate))
	}
	return out, nil
}

func fromAtom(body []byte) (out []watch.Item, err error) {
	feed, err := (&atom.Parser{}).Parse(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, e := range feed.Entries {
		link, text := "", e.Summary
		for _, l := range e.Links {
			if link == "" || l.Rel == "alternate" {
				link = l.Href
			}
		}
		if text == "" && e.Content != nil {
			text = e.Content.Value
		}
		out = append(out, entry(e.ID, e.Title, link, text, e.Updated))
	}
	return out, nil
}

func fromJSON(body []byte) (out []watch.Item, err error) {
	var feed struct {
		Version string
		Items   []struct {
			ID           any
			URL          string
			Title        string
			Summary      string
			ContentText  string `json:"content_text"`
			ContentHTML  string `json:"content_html"`
			DateModified string `json:"date_modified"`
		}
	}
	if err := json.Unmarshal(body, &feed); err != nil {
		return nil, err
	}
	if !strings.Contains(feed.Version, "jsonfeed.org") {
		return nil, errors.New("it is JSON, and no JSON Feed")
	}
	for _, it := range feed.Items {
		id := ""
		if it.ID != nil {
			id = fmt.Sprint(it.ID)
		}
		out = append(out, entry(id, it.Title, it.URL, cmp.Or(it.Summary, it.ContentText, it.ContentHTML), it.DateModified))
	}
	return out, nil
}

// plain are the words of what may be HTML.
func plain(s string) string {
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(s[:min(len(s), 4*watch.MaxText)])); ; {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		case html.TextToken:
			b.Write(z.Text())
			b.WriteByte(' ')
		}
	}
}
