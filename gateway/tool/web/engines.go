package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/hearth-assistant/hearth/gateway/egress"
)

// Each service: how it is asked and how its answer is read. The shapes are from
// the services' public documentation (Brave Search API v1, Tavily /search,
// SearXNG's JSON format) and from DuckDuckGo's page without scripts.

func (e Engine) base(otherwise string) string {
	if e.BaseURL != "" {
		return strings.TrimRight(e.BaseURL, "/")
	}
	return otherwise
}

func unreadable(name string, err error) error {
	return fmt.Errorf("%s sent an answer that cannot be read: %w", name, err)
}

func (e Engine) brave(ctx context.Context, q query) ([]hit, error) {
	key, err := e.key("Brave Search", "brave.com/search/api")
	if err != nil {
		return nil, err
	}
	v := url.Values{"q": {q.Query}, "count": {strconv.Itoa(q.count())}, "text_decorations": {"false"}}
	put(v, "country", strings.ToUpper(q.Country))
	put(v, "search_lang", strings.ToLower(q.Language))
	put(v, "freshness", freshness[q.Freshness])
	p, err := e.fetch(ctx, "Brave Search", egress.Request{
		URL:    e.base("https://api.search.brave.com") + "/res/v1/web/search?" + v.Encode(),
		Header: http.Header{"X-Subscription-Token": {key}, "Accept": {"application/json"}},
	})
	if err != nil {
		return nil, err
	}
	var a struct {
		Web struct {
			Results []struct{ Title, URL, Description, Age string }
		}
	}
	if err := json.Unmarshal(p.Body, &a); err != nil {
		return nil, unreadable("Brave Search", err)
	}
	var hits []hit
	for _, r := range a.Web.Results {
		hits = append(hits, hit{Title: plainText(r.Title), URL: r.URL, Snippet: plainText(r.Description), Age: r.Age})
	}
	return hits, nil
}

func (e Engine) tavily(ctx context.Context, q query) ([]hit, error) {
	key, err := e.key("Tavily", "tavily.com")
	if err != nil {
		return nil, err
	}
	ask := map[string]any{"query": q.Query, "max_results": q.count()}
	if q.Freshness != "" {
		ask["time_range"] = q.Freshness
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return nil, err
	}
	p, err := e.fetch(ctx, "Tavily", egress.Request{
		Method: http.MethodPost, URL: e.base("https://api.tavily.com") + "/search", Body: body,
		Header: http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}},
	})
	if err != nil {
		return nil, err
	}
	var a struct {
		Results []struct {
			Title, URL, Content string
			Published           string `json:"published_date"`
		}
	}
	if err := json.Unmarshal(p.Body, &a); err != nil {
		return nil, unreadable("Tavily", err)
	}
	var hits []hit
	for _, r := range a.Results {
		hits = append(hits, hit{Title: r.Title, URL: r.URL, Snippet: r.Content, Age: r.Published})
	}
	return hits, nil
}

func (e Engine) searxng(ctx context.Context, q query) ([]hit, error) {
	if e.BaseURL == "" {
		return nil, errors.New("SearXNG needs the address of a server: set tools.web.search.baseUrl, for example \"https://searx.example\"")
	}
	v := url.Values{"q": {q.Query}, "format": {"json"}}
	put(v, "language", strings.ToLower(q.Language))
	put(v, "time_range", q.Freshness)
	p, err := e.fetch(ctx, "SearXNG", egress.Request{URL: e.base("") + "/search?" + v.Encode(),
		Header: http.Header{"Accept": {"application/json"}}})
	if err != nil {
		return nil, err
	}
	var a struct {
		Results []struct {
			Title, URL, Content string
			Published           string `json:"publishedDate"`
		}
	}
	if err := json.Unmarshal(p.Body, &a); err != nil {
		return nil, fmt.Errorf("SearXNG did not answer in JSON; allow the format in its settings.yml (search.formats): %w", err)
	}
	var hits []hit
	for _, r := range a.Results {
		hits = append(hits, hit{Title: r.Title, URL: r.URL, Snippet: r.Content, Age: r.Published})
	}
	return hits, nil
}

func (e Engine) duckduckgo(ctx context.Context, q query) ([]hit, error) {
	form := url.Values{"q": {q.Query}}
	if q.Country != "" && q.Language != "" {
		form.Set("kl", strings.ToLower(q.Country+"-"+q.Language))
	}
	if q.Freshness != "" {
		form.Set("df", q.Freshness[:1])
	}
	p, err := e.fetch(ctx, "DuckDuckGo", egress.Request{
		Method: http.MethodPost, URL: e.base("https://html.duckduckgo.com") + "/html/", Body: []byte(form.Encode()),
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "User-Agent": {userAgent}},
	})
	if err != nil {
		return nil, err
	}
	doc, err := html.Parse(strings.NewReader(decoded(p)))
	if err != nil {
		return nil, unreadable("DuckDuckGo", err)
	}
	var hits []hit
	for n := doc; n != nil; n = following(n, doc, false) {
		switch {
		case n.Type != html.ElementNode:
		case n.DataAtom == atom.A && hasClass(n, "result__a"):
			if to := target(attr(n, "href")); to != "" {
				hits = append(hits, hit{Title: textOf(n), URL: to})
			}
		case hasClass(n, "result__snippet") && len(hits) > 0 && hits[len(hits)-1].Snippet == "":
			hits[len(hits)-1].Snippet = textOf(n)
		case hasClass(n, "anomaly-modal__title"), attr(n, "id") == "challenge-form":
			return nil, errors.New("DuckDuckGo asks for a proof that a person is searching; try again later, or set up tools.web.search with " +
				"Brave, Tavily or SearXNG")
		}
	}
	return hits, nil
}

// target is where a result leads: DuckDuckGo puts its own address in front.
// Advertisements lead to nothing.
func target(href string) string {
	u, err := url.Parse(href)
	if err != nil || strings.HasPrefix(u.Path, "/y.js") {
		return ""
	}
	if to := u.Query().Get("uddg"); to != "" {
		if u, err = url.Parse(to); err != nil || strings.HasSuffix(u.Hostname(), "duckduckgo.com") {
			return ""
		}
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}

// plainText is a snippet that may hold a little HTML.
func plainText(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	doc, err := html.Parse(strings.NewReader(s))
	if err != nil {
		return s
	}
	return textOf(find(doc, atom.Body))
}

func put(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasClass(n *html.Node, name string) bool {
	for c := range strings.FieldsSeq(attr(n, "class")) {
		if c == name {
			return true
		}
	}
	return false
}
