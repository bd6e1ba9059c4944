package web

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

//go:embed web_search.md
var searchDescription string

const (
	defaultCount = 5
	maxCount     = 10
	maxQuery     = 400
	maxSnippet   = 500
	// answerBytes is how much of a search service's answer is read.
	answerBytes = 2 << 20
)

// The search services, as configuration names them.
const (
	Brave      = "brave"
	SearXNG    = "searxng"
	DuckDuckGo = "duckduckgo"
	Tavily     = "tavily"
)

// Engine says which service is asked.
type Engine struct {
	Name    string        // one of the constants
	BaseURL string        // "" = the service's own; SearXNG needs one
	Key     func() string // "" = none; nil for services without one
	// Fetcher for this service; a SearXNG in the same house is asked through one
	// that the owner's settings allow there. nil = Options.Fetcher.
	Fetcher Fetcher
}

// Search is the tool web_search.
type Search struct {
	Options
	// Engine is the service to ask now.
	Engine func() Engine
}

// Spec describes the tool.
func (s *Search) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name: "web_search", Description: strings.TrimSpace(searchDescription),
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"query":{"type":"string"},` +
			`"count":{"type":"number","description":"1 to 10, default 5"},` +
			`"country":{"type":"string","description":"two letters, for results from there"},` +
			`"language":{"type":"string","description":"two letters"},` +
			`"freshness":{"type":"string","enum":["day","week","month","year"]}},` +
			`"required":["query"],"additionalProperties":false}`),
	}
}

// query is what is asked of a service.
type query struct {
	Query     string  `json:"query"`
	Count     float64 `json:"count"`
	Country   string  `json:"country"`
	Language  string  `json:"language"`
	Freshness string  `json:"freshness"`
}

func (q query) count() int { return int(q.Count) }

// hit is one result.
type hit struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet,omitempty"`
	Age     string `json:"age,omitempty"`
}

// Run asks the service.
func (s *Search) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var q query
	if err := readArgs(call.Args, &q); err != nil {
		return tool.Result{}, err
	}
	q.Query = strings.TrimSpace(q.Query)
	switch {
	case q.Query == "":
		return tool.Result{}, errors.New("the query is empty; say what to look for")
	case len(q.Query) > maxQuery:
		return tool.Result{}, fmt.Errorf("the query is longer than %d bytes; use a few words", maxQuery)
	case !twoLetters(q.Country) || !twoLetters(q.Language):
		return tool.Result{}, errors.New("country and language are codes of two letters, such as \"de\"")
	case q.Freshness != "" && freshness[q.Freshness] == "":
		return tool.Result{}, errors.New("freshness can be day, week, month or year")
	}
	if q.Count == 0 {
		q.Count = defaultCount
	}
	q.Count = min(max(q.Count, 1), maxCount)
	if err := s.leaks("query", q.Query); err != nil {
		return tool.Result{}, err
	}
	e := s.Engine()
	if e.Fetcher == nil {
		e.Fetcher = s.Fetcher
	}
	hits, err := e.ask(ctx, q)
	if err != nil {
		return tool.Result{}, err
	}
	return s.show(e, q, hits), nil
}

func (s *Search) show(e Engine, q query, hits []hit) tool.Result {
	if len(hits) > q.count() {
		hits = hits[:q.count()]
	}
	var b strings.Builder
	for i := range hits {
		h := &hits[i]
		h.Title, h.Snippet, h.URL = line(h.Title), line(h.Snippet), line(h.URL)
		h.Snippet, _ = cutChars(h.Snippet, maxSnippet)
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, h.Title, h.URL)
		if h.Snippet != "" {
			fmt.Fprintf(&b, "   %s\n", h.Snippet)
		}
		if h.Age != "" {
			fmt.Fprintf(&b, "   (%s)\n", line(h.Age))
		}
	}
	text := "Nothing was found. Try other words."
	if len(hits) > 0 {
		text = s.Wrap.Wrap("search results of "+e.Name, b.String())
	} else {
		hits = []hit{}
	}
	return tool.Result{Text: text, Details: details(map[string]any{"provider": e.Name, "query": q.Query, "count": len(hits), "results": hits})}
}

// line is text from the web on one line.
func line(s string) string { return strings.Join(strings.Fields(harmless(s)), " ") }

func twoLetters(s string) bool {
	return s == "" || len(s) == 2 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz") == ""
}

// freshness is how Brave calls the periods.
var freshness = map[string]string{"day": "pd", "week": "pw", "month": "pm", "year": "py"}

// ask dispatches to the service.
func (e Engine) ask(ctx context.Context, q query) ([]hit, error) {
	switch e.Name {
	case Brave:
		return e.brave(ctx, q)
	case SearXNG:
		return e.searxng(ctx, q)
	case Tavily:
		return e.tavily(ctx, q)
	case DuckDuckGo, "":
		return e.duckduckgo(ctx, q)
	}
	return nil, fmt.Errorf("tools.web.search.provider is %q, which Hearth does not know; use brave, searxng, duckduckgo or tavily", e.Name)
}

// key is the service's key, or an error that says where to get one.
func (e Engine) key(name, page string) (string, error) {
	if e.Key != nil {
		if k := e.Key(); k != "" {
			return k, nil
		}
	}
	return "", fmt.Errorf("%s needs an API key: get one at %s and set tools.web.search.apiKey, or set tools.web.search.provider to "+
		"\"duckduckgo\", which needs none", name, page)
}

// fetch asks a service and puts its refusals into words.
func (e Engine) fetch(ctx context.Context, name string, req egress.Request) (egress.Page, error) {
	req.MaxBytes = answerBytes
	p, err := e.Fetcher.Fetch(ctx, req)
	if err != nil {
		return p, fmt.Errorf("%s could not be asked: %w", name, err)
	}
	switch {
	case p.Status == 401 || p.Status == 403:
		return p, fmt.Errorf("%s refused the key (HTTP %d); check tools.web.search.apiKey", name, p.Status)
	case p.Status == 429:
		return p, fmt.Errorf("%s says that it was asked too often (HTTP 429); wait a minute, or set another tools.web.search.provider", name)
	case p.Status >= 400:
		return p, fmt.Errorf("%s answered with HTTP %d; try again later, or set another tools.web.search.provider", name, p.Status)
	case p.Truncated:
		return p, fmt.Errorf("%s sent an answer that did not end; try again later", name)
	}
	return p, nil
}
