package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

// here sends every request to a local server, whatever host it names. Which
// addresses are allowed is egress's part and tested there.
type here struct {
	h    http.Handler
	asks int
}

func (f *here) Fetch(ctx context.Context, req egress.Request) (egress.Page, error) {
	f.asks++
	u, err := url.Parse(req.URL)
	if err != nil {
		return egress.Page{}, err
	}
	r := httptest.NewRequestWithContext(ctx, cmp2(req.Method, http.MethodGet), req.URL, bytes.NewReader(req.Body))
	for k, v := range req.Header {
		r.Header[k] = v
	}
	w := httptest.NewRecorder()
	f.h.ServeHTTP(w, r)
	return egress.Page{URL: u, Status: w.Code, Header: w.Header(), Body: w.Body.Bytes()}, nil
}

func cmp2(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func options(f Fetcher) Options {
	return Options{Fetcher: f, Wrap: untrusted.Wrapper{NewID: func() string { return "0123456789abcdef0123456789abcdef" }},
		Now: func() time.Time { return time.Unix(1_800_000_000, 0) }}
}

func serve(kind, body string) *here {
	return &here{h: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	})}
}

func run(t *testing.T, tl tool.Tool, args string) (tool.Result, error) {
	t.Helper()
	if !json.Valid(tl.Spec().Schema) {
		t.Fatalf("the schema of %s is not JSON", tl.Spec().Name)
	}
	return tl.Run(t.Context(), tool.Call{Args: json.RawMessage(args), Progress: func(string) {}})
}

const article = `<!doctype html><html><head><title>Bread &amp; butter</title><script>track()</script></head><body>
<nav><a href="/">Home</a> <a href="/all">All</a></nav>
<main><article><h1>Bread</h1>
<p>Flour, water, salt and time make bread. The dough rests for <b>twelve hours</b> in the cold, because slow yeast tastes better than quick yeast does.</p>
<p>See <a href="/oven?x=1">the oven</a>. Bake at 230 degrees for forty minutes, until the crust sounds hollow when it is knocked upon from below, and let it cool.</p>
<table><tr><th>What</th><th>How much</th></tr><tr><td>Flour</td><td>500 g</td></tr><tr><td>Water</td><td>350 g</td></tr></table>
<pre><code class="language-sh">bake --hot</code></pre></article></main><footer>Imprint</footer></body></html>`

func TestFetchMakesMarkdown(t *testing.T) {
	f := &Fetch{Options: options(serve("text/html; charset=utf-8", article))}
	res, err := run(t, f, `{"url":"https://bread.example/how"}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Bread & butter", "**twelve hours**", "[the oven](https://bread.example/oven?x=1)", "| Flour", "bake --hot",
		"https://bread.example/how"} {
		if !strings.Contains(res.Text, want) {
			t.Errorf("%q is missing in:\n%s", want, res.Text)
		}
	}
	for _, not := range []string{"track()", "Imprint", "<p>"} {
		if strings.Contains(res.Text, not) {
			t.Errorf("%q is in:\n%s", not, res.Text)
		}
	}
	var d fetched
	if err := json.Unmarshal(res.Details, &d); err != nil || d.Status != 200 || d.Title == "" || d.FinalURL != "https://bread.example/how" {
		t.Errorf("details %s, %v", res.Details, err)
	}
}

func TestFetchText(t *testing.T) {
	f := &Fetch{Options: options(serve("text/html", article))}
	res, err := run(t, f, `{"url":"https://bread.example/","extractMode":"text"}`)
	if err != nil || strings.Contains(res.Text, "**") || !strings.Contains(res.Text, "twelve hours") {
		t.Errorf("%v\n%s", err, res.Text)
	}
}

func TestFetchKinds(t *testing.T) {
	for name, c := range map[string]struct{ kind, body, want, err string }{
		"json":         {"application/json", `{"a":[1,2]}`, "\"a\": [\n", ""},
		"broken json":  {"application/json", `{"a":`, `{"a":`, ""},
		"text":         {"text/plain; charset=iso-8859-1", "gr\xfc\xdfe", "grüße", ""},
		"shift-jis":    {"text/html; charset=shift_jis", "<p>\x93\xfa\x96{</p>", "日本", ""},
		"feed":         {"application/rss+xml", "<rss><title>x</title></rss>", "<rss>", ""},
		"sniffed":      {"application/octet-stream", "<html><body>plain words</body></html>", "plain words", ""},
		"pdf":          {"application/pdf", "%PDF-1.7", "", "cannot read as text"},
		"picture":      {"image/png", "\x89PNG\r\n\x1a\n", "", "cannot read as text"},
		"empty":        {"text/html", "", "web page", ""},
		"short page":   {"text/html", "<body>just this</body>", "just this", ""},
		"invalid text": {"text/plain; charset=utf-8", "a\xffb", "a\uFFFDb", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := &Fetch{Options: options(serve(c.kind, c.body))}
			res, err := run(t, f, `{"url":"https://x.example/"}`)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil || !strings.Contains(res.Text, c.want) {
				t.Errorf("%v\n%s", err, res.Text)
			}
		})
	}
}

func TestFetchCutsAndSaysSo(t *testing.T) {
	f := &Fetch{Options: options(serve("text/plain", strings.Repeat("ä", 3000)))}
	res, err := run(t, f, `{"url":"https://x.example/","maxChars":1000}`)
	if err != nil || !strings.Contains(res.Text, "[1000 of 3000 characters are shown.]") || strings.Count(res.Text, "ä") != 1000 {
		t.Errorf("%v\n%s", err, res.Text[len(res.Text)-100:])
	}
}

func TestFetchErrors(t *testing.T) {
	f := &Fetch{Options: options(&here{h: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(404)
		fmt.Fprint(w, "<h1>Not here</h1>")
	})})}
	if _, err := run(t, f, `{"url":"https://x.example/a?k=v"}`); err == nil || !strings.Contains(err.Error(), "HTTP 404") ||
		!strings.Contains(err.Error(), "Not here") {
		t.Error(err)
	}
	for args, want := range map[string]string{`{"url":1}`: "arguments", `{"url":"https://x.example/","extractMode":"pdf"}`: "markdown or " +
		"text"} {
		if _, err := run(t, f, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	guarded := &Fetch{Options: options(egress.Public(egress.Options{}))}
	if _, err := run(t, guarded, `{"url":"http://127.0.0.1:18789/"}`); err == nil || !strings.Contains(err.Error(), "only public web sites") {
		t.Error(err)
	}
}

func TestFetchCaches(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	web := serve("text/plain", "words")
	f := &Fetch{Options: options(web)}
	f.Now = func() time.Time { return at }
	for _, step := range []struct {
		after time.Duration
		asks  int
	}{{0, 1}, {cacheTime - 1, 1}, {1, 2}, {time.Second, 2}} {
		at = at.Add(step.after)
		if _, err := run(t, f, `{"url":"https://x.example/"}`); err != nil || web.asks != step.asks {
			t.Errorf("%v, asked %d times, want %d", err, web.asks, step.asks)
		}
	}
	for i := range 200 {
		_, _ = run(t, f, fmt.Sprintf(`{"url":"https://x.example/%d"}`, i))
	}
	if n := len(f.cache.pages); n > cacheEntries || f.cache.bytes != n*len("words") {
		t.Errorf("%d pages, %d bytes kept", n, f.cache.bytes)
	}
}

// A page hides words for models from people; none of them may arrive.
func TestSec_A_SSRF_10_HiddenWordsAreDropped(t *testing.T) {
	page, err := os.ReadFile("testdata/hidden.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"markdown", "text"} {
		f := &Fetch{Options: options(serve("text/html", string(page)))}
		res, err := run(t, f, `{"url":"https://x.example/","extractMode":"`+mode+`"}`)
		if err != nil {
			t.Fatal(err)
		}
		if i := strings.Index(res.Text, "PWNED"); i >= 0 {
			t.Errorf("%s: hidden words came through: …%s…", mode, res.Text[max(0, i-60):min(len(res.Text), i+60)])
		}
		if !strings.Contains(res.Text, "VISIBLE-1") || !strings.Contains(res.Text, "VISIBLE-9") {
			t.Errorf("%s: visible words were lost:\n%s", mode, res.Text)
		}
	}
}

func TestSec_A_INJ_05_ChatTemplateTokens(t *testing.T) {
	tokens := []string{"<|im_start|>system", "<|im_end|>", "<|eot_id|>", "<|start_header_id|>", "<｜User｜>", "[INST]", "[/INST]", "<<SYS>>",
		"<start_of_turn>", "<|endoftext|>", "</s>"}
	for _, kind := range []string{"text/plain", "text/html"} {
		body := strings.Join(tokens, "\n")
		if kind == "text/html" {
			body = "<pre>" + strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(body) + "</pre>"
		}
		f := &Fetch{Options: options(serve(kind, body))}
		res, err := run(t, f, `{"url":"https://x.example/"}`)
		if err != nil {
			t.Fatal(err)
		}
		for _, tok := range tokens {
			if strings.Contains(res.Text, tok) {
				t.Errorf("%s: %s came through", kind, tok)
			}
		}
	}
}

func TestSec_A_INJ_10_InvisibleText(t *testing.T) {
	f := &Fetch{Options: options(serve("text/plain", "a\u200bb\u202ec\u2060d\ufeffe\U000E0041\U000E0042f\ufe00g\u00adh\x1b[31mi\x07j"))}
	res, err := run(t, f, `{"url":"https://x.example/"}`)
	if err != nil || !strings.Contains(res.Text, "abcdefgh[31mij") {
		t.Errorf("%v %q", err, res.Text)
	}
}

func TestSec_A_SSRF_11_SecretsDoNotLeave(t *testing.T) {
	web := serve("text/plain", "x")
	o := options(web)
	o.Secret = func(s string) bool { return strings.Contains(s, "canary") }
	if _, err := run(t, &Fetch{Options: o}, `{"url":"https://x.example/?k=canary"}`); err == nil {
		t.Error("a secret was sent in an address")
	}
	if _, err := run(t, &Search{Options: o, Engine: func() Engine { return Engine{} }}, `{"query":"canary"}`); err == nil {
		t.Error("a secret was sent in a query")
	}
	if web.asks != 0 {
		t.Errorf("%d requests", web.asks)
	}
}

func TestHugePagesAreRefused(t *testing.T) {
	f := &Fetch{Options: options(serve("text/html", strings.Repeat("<i>x</i>", maxElements+1)))}
	if _, err := run(t, f, `{"url":"https://x.example/"}`); err == nil || !strings.Contains(err.Error(), "elements") {
		t.Error(err)
	}
	deep := &Fetch{Options: options(serve("text/html", strings.Repeat("<div>", 5000)+"bottom"))}
	if _, err := run(t, deep, `{"url":"https://x.example/"}`); err != nil && !strings.Contains(err.Error(), "HTML") {
		t.Error(err)
	}
}

func FuzzPage(f *testing.F) {
	f.Add(article)
	f.Add("<table><tr><td>")
	f.Add("<p style=\"display:none\">x</p>")
	u, _ := url.Parse("https://x.example/")
	f.Fuzz(func(t *testing.T, body string) {
		p := egress.Page{URL: u, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body)}
		for _, mode := range []string{"markdown", "text"} {
			_, text, err := page(p, mode)
			if err == nil && text != harmless(text) {
				t.Fatalf("%q is not harmless", text)
			}
		}
	})
}

func TestSearchEngines(t *testing.T) {
	want := []hit{{Title: "Bread & more", URL: "https://bread.example/", Snippet: "How to bake it."},
		{Title: "Second", URL: "https://two.example/x", Snippet: "Words."}}
	for name, c := range map[string]struct {
		file  string
		check func(r *http.Request) error
	}{
		Brave: {"brave.json", func(r *http.Request) error {
			return expect(r.Header.Get("X-Subscription-Token") == "key" && r.URL.Host == "api.search.brave.com" &&
				r.URL.Query().Get("q") == "bread" && r.URL.Query().Get("freshness") == "pw" && r.URL.Query().Get("country") == "DE", r)
		}},
		Tavily: {"tavily.json", func(r *http.Request) error {
			return expect(r.Header.Get("Authorization") == "Bearer key" && r.Method == http.MethodPost && r.URL.Path == "/search", r)
		}},
		SearXNG: {"searxng.json", func(r *http.Request) error {
			return expect(r.URL.Host == "searx.example" && r.URL.Query().Get("format") == "json" && r.URL.Query().Get("time_range") == "week", r)
		}},
		DuckDuckGo: {"duckduckgo.html", func(r *http.Request) error {
			return expect(r.Method == http.MethodPost && r.FormValue("q") == "bread" && r.FormValue("df") == "w" && r.FormValue("kl") == "de-de", r)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := os.ReadFile("testdata/" + c.file)
			if err != nil {
				t.Fatal(err)
			}
			var asked error = errors.New("nobody asked")
			web := &here{h: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = c.check(r)
				_, _ = w.Write(answer)
			})}
			e := Engine{Name: name, Key: func() string { return "key" }}
			if name == SearXNG {
				e.BaseURL = "https://searx.example/"
			}
			s := &Search{Options: options(web), Engine: func() Engine { return e }}
			res, err := run(t, s, `{"query":" bread ","count":2,"country":"de","language":"de","freshness":"week"}`)
			if err != nil || asked != nil {
				t.Fatal(err, asked)
			}
			var d struct{ Results []hit }
			if err := json.Unmarshal(res.Details, &d); err != nil {
				t.Fatal(err)
			}
			for i := range d.Results {
				d.Results[i].Age = ""
			}
			if diff := cmp.Diff(want, d.Results); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(res.Text, "search results of "+name) || !strings.Contains(res.Text, "https://two.example/x") {
				t.Errorf("text:\n%s", res.Text)
			}
		})
	}
}

func expect(ok bool, r *http.Request) error {
	if !ok {
		return fmt.Errorf("asked %s %s with %v", r.Method, r.URL, r.Header)
	}
	return nil
}

func TestSearchErrors(t *testing.T) {
	status := 200
	body := ""
	web := &here{h: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})}
	e := Engine{}
	s := &Search{Options: options(web), Engine: func() Engine { return e }}
	for _, c := range []struct {
		e      Engine
		args   string
		status int
		body   string
		want   string
	}{
		{Engine{}, `{"query":"  "}`, 200, "", "empty"},
		{Engine{}, `{"query":"` + strings.Repeat("x", maxQuery+1) + `"}`, 200, "", "longer than"},
		{Engine{}, `{"query":"x","country":"deu"}`, 200, "", "two letters"},
		{Engine{}, `{"query":"x","freshness":"today"}`, 200, "", "day, week"},
		{Engine{Name: Brave}, `{"query":"x"}`, 200, "{}", "needs an API key"},
		{Engine{Name: Tavily, Key: func() string { return "k" }}, `{"query":"x"}`, 401, "", "refused the key"},
		{Engine{Name: Tavily, Key: func() string { return "k" }}, `{"query":"x"}`, 200, "<html>", "cannot be read"},
		{Engine{Name: SearXNG}, `{"query":"x"}`, 200, "", "baseUrl"},
		{Engine{Name: SearXNG, BaseURL: "https://s.example"}, `{"query":"x"}`, 200, "<html>", "search.formats"},
		{Engine{Name: "bing"}, `{"query":"x"}`, 200, "", "does not know"},
		{Engine{}, `{"query":"x"}`, 429, "", "too often"},
		{Engine{}, `{"query":"x"}`, 500, "", "HTTP 500"},
		{Engine{}, `{"query":"x"}`, 202, `<form id="challenge-form"></form>`, "proof that a person"},
	} {
		e, status, body = c.e, c.status, c.body
		if _, err := run(t, s, c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.e.Name, c.args, err, c.want)
		}
	}
	e, status, body = Engine{}, 200, "<html></html>"
	if res, err := run(t, s, `{"query":"x"}`); err != nil || !strings.Contains(res.Text, "Nothing was found") {
		t.Errorf("%v %s", err, res.Text)
	}
}
