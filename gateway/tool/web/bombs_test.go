package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/isolate"
	"github.com/hearth-assistant/hearth/internal/rerun"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "isolate" {
		rerun.Exit(isolate.Main(map[string]isolate.Job{Job: Convert}))
	}
	os.Exit(m.Run())
}

// bombs are pages whose text would be many times what they are.
func bombs(n int) map[string]string {
	intro, lines := "<p>"+strings.Repeat("word ", 100)+"</p>", strings.Repeat("<p>a</p>", n)
	return map[string]string{
		"lists":     intro + strings.Repeat("<ul><li>", 240) + lines,
		"numbers":   intro + strings.Repeat("<ol><li>", 240) + lines,
		"quotes":    intro + strings.Repeat("<blockquote>", 490) + lines,
		"mixed":     intro + strings.Repeat("<blockquote><ul><li>", 160) + lines,
		"one table": intro + "<table><tr>" + strings.Repeat("<td>a", n) + "</tr>" + strings.Repeat("<tr><td>b</tr>", n) + "</table>",
		"spans": intro + "<table><tr><td colspan=1000 rowspan=65000>a</td></tr>" + strings.Repeat("<tr><td colspan=1000>b</td></tr>", n) +
			"</table>",
		"odd spans": intro + "<table><tr><td colspan=99999999999999999999 rowspan=-7>a</td><td colspan=-9>" +
			strings.Repeat("<tr><td rowspan=65000>b</td></tr>", n) + "</table>",
		"tables":     intro + strings.Repeat("<table><tr><td colspan=1000>", 120) + lines,
		"bold":       intro + strings.Repeat("<b>", 490) + lines,
		"backticks":  intro + "<pre>" + strings.Repeat("`", n*10),
		"attributes": intro + "<a " + strings.Repeat("a=b ", n*10) + ">x</a>",
		"styles":     intro + strings.Repeat("<p style='"+strings.Repeat("left ", 200)+"'>a</p>", n/20),
	}
}

// TestSec_A_SSRF_09_PagesDoNotGrow: 1 KB of page was 8 GB of text.
func TestSec_A_SSRF_09_PagesDoNotGrow(t *testing.T) {
	u, _ := url.Parse("https://x.example/")
	for name, body := range bombs(2000) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, text, err := page(egress.Page{URL: u, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body)}, "markdown")
			runtime.ReadMemStats(&after)
			if err != nil && !strings.Contains(err.Error(), "HTML") {
				t.Error(err)
			}
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 250 || len(text) > 40*len(body) {
				t.Errorf("a page of %d KB became %d KB of text and took %d MB", len(body)>>10, len(text)>>10, took)
			}
		})
	}
}

// TestSec_A_SSRF_09_PagesAreReadApart: whatever a page is, what comes back is its
// text or a reason, from a process that has limits.
func TestSec_A_SSRF_09_PagesAreReadApart(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	reader := isolate.New([]string{exe, exe, "isolate"})
	for name, body := range bombs(10_000) {
		t.Run(name, func(t *testing.T) {
			o := options(serve("text/html", body))
			o.Apart = func(ctx context.Context, job string, in []byte) ([]byte, error) {
				return reader.Do(ctx, job, in, isolate.Limits{Memory: 256 << 20})
			}
			res, err := run(t, &Fetch{Options: o}, `{"url":"https://x.example/"}`)
			var much *isolate.TooMuchError
			var said *isolate.JobError
			if err != nil && !errors.As(err, &much) && !errors.As(err, &said) || err == nil && !strings.Contains(res.Text, "web page") {
				t.Errorf("%v %q", err, res.Text)
			}
		})
	}
	o := options(serve("text/html", article))
	o.Apart = func(ctx context.Context, job string, in []byte) ([]byte, error) {
		return reader.Do(ctx, job, in, isolate.Limits{})
	}
	res, err := run(t, &Fetch{Options: o}, `{"url":"https://x.example/"}`)
	if err != nil || !strings.Contains(res.Text, "# Bread") || !strings.Contains(res.Text, "**twelve hours**") ||
		!strings.Contains(res.Text, "https://x.example/oven?x=1") {
		t.Errorf("%v\n%s", err, res.Text)
	}
}

// TestSec_A_SSRF_09_StopEndsReading: a person who stops an answer does not wait
// for the page that it is reading.
func TestSec_A_SSRF_09_StopEndsReading(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	o := options(serve("text/html", article))
	o.Apart = func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
		stop()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	f := &Fetch{Options: o}
	if _, err := f.get(ctx, fetchArgs{URL: "https://x.example/", ExtractMode: "markdown"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestSec_A_SSRF_09_NestedJSON(t *testing.T) {
	body := strings.Repeat("[", 9900) + strings.Repeat("1,", 50_000) + "1" + strings.Repeat("]", 9900)
	f := &Fetch{Options: options(serve("application/json", body))}
	p, err := f.get(t.Context(), fetchArgs{URL: "https://x.example/", ExtractMode: "markdown"})
	if err != nil || p.text != body {
		t.Errorf("%d bytes became %d, %v", len(body), len(p.text), err)
	}
}

func TestWideTablesAreReadAsLines(t *testing.T) {
	row := "<tr>" + strings.Repeat("<td>cell</td>", 300) + "</tr>"
	f := &Fetch{Options: options(serve("text/html", "<table>"+strings.Repeat(row, 300)+"<tr><td>last</td><td>row</td></tr></table>"))}
	p, err := f.get(t.Context(), fetchArgs{URL: "https://x.example/", ExtractMode: "markdown"})
	if err != nil || !strings.Contains(p.text, "cell cell cell") || !strings.HasSuffix(p.text, "last row") {
		t.Errorf("%v …%s", err, p.text[max(0, len(p.text)-100):])
	}
}
