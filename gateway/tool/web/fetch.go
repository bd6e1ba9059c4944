package web

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pretty"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/internal/text"
)

//go:embed web_fetch.md
var fetchDescription string

const (
	defaultMaxChars = 50_000
	minMaxChars     = 100
	errorExcerpt    = 1000
	// maxSmall is how much a JSON text may grow when it is laid out; a large one
	// may double.
	maxSmall = 64 << 10
)

// Fetch is the tool web_fetch.
type Fetch struct {
	Options
	// MaxBytes of a page that are read, 0 = egress.DefaultMaxBytes; nil = 0.
	MaxBytes func() int64
	cache    cache
}

// Spec describes the tool.
func (f *Fetch) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name: "web_fetch", Description: strings.TrimSpace(fetchDescription),
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"url":{"type":"string","description":"http or https address of a public page"},` +
			`"extractMode":{"type":"string","enum":["markdown","text"],"description":"how to return a page; default markdown"},` +
			`"maxChars":{"type":"number","description":"at most this many characters, default 50000"}},` +
			`"required":["url"],"additionalProperties":false}`),
	}
}

type fetchArgs struct {
	URL         string  `json:"url"`
	ExtractMode string  `json:"extractMode"`
	MaxChars    float64 `json:"maxChars"`
}

// fetched is what surfaces show of a page.
type fetched struct {
	URL         string `json:"url"`
	FinalURL    string `json:"finalUrl"`
	Status      int    `json:"status"`
	ContentType string `json:"contentType"`
	Title       string `json:"title,omitempty"`
	Mode        string `json:"extractMode"`
	Length      int    `json:"length"` // characters of the whole text
	Truncated   bool   `json:"truncated"`
	Cached      bool   `json:"cached,omitempty"`

	text string
}

// Run fetches one page.
func (f *Fetch) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a fetchArgs
	if err := readArgs(call.Args, &a); err != nil {
		return tool.Result{}, err
	}
	a.URL = strings.TrimSpace(a.URL)
	if a.ExtractMode == "" {
		a.ExtractMode = "markdown"
	}
	if a.ExtractMode != "markdown" && a.ExtractMode != "text" {
		return tool.Result{}, fmt.Errorf("extractMode is %q; it can be markdown or text", a.ExtractMode)
	}
	if err := f.leaks("address", a.URL); err != nil {
		return tool.Result{}, err
	}
	key := a.ExtractMode + " " + a.URL
	page, ok := f.cache.get(key, f.Now())
	if !ok {
		var err error
		if page, err = f.get(ctx, a); err != nil {
			return tool.Result{}, err
		}
		f.cache.put(key, page, f.Now())
	}
	page.Cached = ok
	return f.show(page, a.MaxChars), nil
}

// get fetches and reads a page. An error page is an error with its beginning.
func (f *Fetch) get(ctx context.Context, a fetchArgs) (fetched, error) {
	var limit int64
	if f.MaxBytes != nil {
		limit = f.MaxBytes()
	}
	p, err := f.Fetcher.Fetch(ctx, egress.Request{URL: a.URL, MaxBytes: limit, Header: http.Header{
		"User-Agent": {userAgent}, "Accept": {"text/markdown, text/html;q=0.9, application/json;q=0.8, text/plain;q=0.8, */*;q=0.1"},
		"Accept-Language": {"en, *;q=0.5"},
	}})
	if err != nil {
		return fetched{}, inWords(err)
	}
	out := fetched{URL: a.URL, FinalURL: p.URL.String(), Status: p.Status, Mode: a.ExtractMode, Truncated: p.Truncated}
	out.ContentType = contentType(p)
	err = f.read(ctx, p, &out)
	if ctx.Err() != nil {
		return fetched{}, ctx.Err()
	}
	if p.Status >= 400 {
		text, _ := cutChars(out.text, errorExcerpt)
		return fetched{}, fmt.Errorf("%s answered with HTTP %d.\n%s", p.URL.Hostname(), p.Status, f.Wrap.Wrap("error page of "+p.URL.Hostname(),
			text))
	}
	if err != nil {
		return fetched{}, err
	}
	out.Length = utf8.RuneCountInString(out.text)
	return out, nil
}

// show puts a page between marks, as much of it as was asked for.
func (f *Fetch) show(page fetched, maxChars float64) tool.Result {
	limit := defaultMaxChars
	if maxChars >= minMaxChars && maxChars < defaultMaxChars {
		limit = int(maxChars)
	}
	text, cut := cutChars(page.text, limit)
	page.Truncated = page.Truncated || cut
	var head strings.Builder
	if page.Title != "" {
		fmt.Fprintf(&head, "# %s\n\n", page.Title)
	}
	out := f.Wrap.Wrap("web page "+page.FinalURL, head.String()+text)
	if page.Truncated {
		out += fmt.Sprintf("\n[%d of %d characters are shown.]", utf8.RuneCountInString(text), page.Length)
	}
	return tool.Result{Text: out, Details: details(page)}
}

// contentType is the declared type, or the sniffed one when none is declared.
func contentType(p egress.Page) string {
	t, _, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
	if err != nil || t == "" || t == "application/octet-stream" {
		t, _, _ = mime.ParseMediaType(http.DetectContentType(p.Body))
	}
	return t
}

// read turns a body into text for a model.
func (f *Fetch) read(ctx context.Context, p egress.Page, out *fetched) error {
	kind := out.ContentType
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		m, err := f.convert(ctx, p, out.Mode)
		out.Title, out.text, out.Truncated = m.Title, m.Text, out.Truncated || m.Cut
		return err
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		out.text = harmless(string(pretty.JSON(p.Body, "  ", 2*len(p.Body)+maxSmall)))
		return nil
	case strings.HasPrefix(kind, "text/"), kind == "application/xml", strings.HasSuffix(kind, "+xml"), kind == "application/javascript",
		kind == "application/yaml":
		out.text = harmless(decoded(p))
		return nil
	}
	return fmt.Errorf("%s is %s (%s), which web_fetch cannot read as text", p.URL.Hostname()+p.URL.Path, kind, size(len(p.Body), p.Truncated))
}

// decoded is the body as UTF-8, by what the header, the first bytes or the page
// itself say of its encoding.
func decoded(p egress.Page) string {
	enc, name, _ := charset.DetermineEncoding(p.Body, p.Header.Get("Content-Type"))
	if name == "utf-8" {
		return strings.ToValidUTF8(string(p.Body), "\uFFFD")
	}
	b, err := enc.NewDecoder().Bytes(p.Body)
	if err != nil {
		return strings.ToValidUTF8(string(p.Body), "\uFFFD")
	}
	return string(b)
}

func size(n int, more bool) string {
	s := fmt.Sprintf("%d bytes", n)
	if n >= 1<<20 {
		s = fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	} else if n >= 1<<10 {
		s = fmt.Sprintf("%d KB", n>>10)
	}
	if more {
		return "more than " + s
	}
	return s
}

// cutChars keeps the first n characters.
func cutChars(s string, n int) (string, bool) {
	first := text.First(s, n)
	return first, len(first) < len(s)
}

// cacheTime is how long a page is not asked for again.
const cacheTime = 15 * time.Minute
