package wire

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hearth-assistant/hearth/gateway/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// words is a dialect for tests: each event is text, "END" is the end mark.
func wordsDialect() Dialect {
	return Dialect{
		Ask:      func(model.Request) (string, any) { return "/ask", map[string]string{"q": "<&>"} },
		Header:   func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		Decoding: func() Decoder { return &wordDecoder{} },
	}
}

type wordDecoder struct{}

func (*wordDecoder) Decode(data []byte, a *Answer) (Step, error) {
	switch s := string(data); {
	case s == "END":
		return Done, nil
	case strings.HasPrefix(s, "call "):
		return Progress, a.Call("", "tool", []byte(s[5:]))
	default:
		a.Content(s)
		return Progress, nil
	}
}

func (*wordDecoder) End(_ *Answer, marked bool) (bool, error) { return marked, nil }

// serve runs a server for one test and returns a service that asks it.
func serve(t *testing.T, h http.HandlerFunc) *Service {
	t.Helper()
	ts := httptest.NewServer(h)
	t.Cleanup(ts.Close)
	return &Service{Ref: model.Ref{Provider: "p", Model: "m"}, BaseURL: ts.URL, HTTP: ts.Client(),
		Key: func() string { return "secret-key-1234" }}
}

func run(t *testing.T, s *Service) (text, thinking string, calls []string, err error) {
	t.Helper()
	for ev, e := range s.Stream(t.Context(), wordsDialect(), model.Request{Model: "m"}) {
		if e != nil {
			err = e
			continue
		}
		switch ev.Kind {
		case model.EventText:
			text += ev.Text
		case model.EventThinking:
			thinking += ev.Text
		case model.EventToolCall:
			if ev.Call.Problem != "" {
				calls = append(calls, "refused")
				continue
			}
			calls = append(calls, string(ev.Call.Arguments))
		}
	}
	return text, thinking, calls, err
}

func stream(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, body)
	}
}

func data(records ...string) string {
	var b strings.Builder
	for _, r := range records {
		b.WriteString("data: " + strings.ReplaceAll(r, "\n", "\ndata: ") + "\n\n")
	}
	return b.String()
}

func TestThoughtsInTags(t *testing.T) {
	tests := []struct{ in, text, thinking string }{
		{"hello", "hello", ""},
		{"<think>a b</think>\n\nhello", "hello", "a b"},
		{"\n <think>a</think>hi", "hi", "a"},
		{"<thinking about it", "<thinking about it", ""},
		{"<th", "<th", ""},
		{"say <think>x</think>", "say <think>x</think>", ""},
		{"<think>a < b </thin k></think>c", "c", "a < b </thin k>"},
		{"<think></think>c", "c", ""},
	}
	for _, tt := range tests {
		for _, size := range []int{1, 2, 3, 100} {
			var pieces []string
			for s := tt.in; s != ""; {
				n := min(size, len(s))
				pieces = append(pieces, s[:n])
				s = s[n:]
			}
			text, thinking, _, err := run(t, serve(t, stream(data(append(pieces, "END")...))))
			if err != nil || text != tt.text || thinking != tt.thinking {
				t.Errorf("%q by %d: got %q, %q, %v", tt.in, size, text, thinking, err)
			}
		}
	}
}

func TestCalls(t *testing.T) {
	tests := []struct {
		args, want string // want "" = refused
	}{
		{`{"a": 1}`, `{"a":1}`},
		{``, `{}`},
		{`null`, `{}`},
		{`"{\"a\": 1}"`, `{"a":1}`},
		{`""`, `{}`},
		{"{\"a\": \"x\n\ty\", }", `{"a":"x\n\ty"}`},
		{`{"a": [1, 2,],}`, `{"a":[1,2]}`},
		{`{"a": "1,}"}`, `{"a":"1,}"}`},
		{`{"a": 1`, ``},
		{`{"a": "rm -rf /ho`, ``},
		{`[1]`, ``},
		{`7`, ``},
		{`"text"`, ``},
		{`{"a":1}{"b":2}`, ``},
		{`{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, ``},
	}
	for _, tt := range tests {
		_, _, calls, err := run(t, serve(t, stream(data("call "+tt.args, "END"))))
		if tt.want == "" {
			if err != nil || len(calls) != 1 || calls[0] != "refused" {
				t.Errorf("%.40q: got %v, %v", tt.args, calls, err)
			}
		} else if diff := cmp.Diff([]string{tt.want}, calls); diff != "" || err != nil {
			t.Errorf("%q: %v %s", tt.args, err, diff)
		}
	}
}

func TestFault_F_PROV_15_output_is_capped(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, data(strings.Repeat("x", 1000))); err != nil {
				return
			}
		}
	})
	s.MaxOutput = 50_500
	var stop model.StopReason
	n := 0
	for ev, err := range s.Stream(t.Context(), wordsDialect(), model.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
		n += len(ev.Text)
		stop = ev.Stop
	}
	if n != 50_000 || stop != model.StopLength {
		t.Errorf("got %d bytes, stop %q", n, stop)
	}
}

func TestFault_F_PROV_14_not_a_stream(t *testing.T) {
	answer := func(status int, typ, body string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", typ)
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	page := "<!DOCTYPE html><html><head><title>Access denied</title></head><body>" + strings.Repeat("insufficient_quota ", 60_000) +
		"</body></html>"
	tests := []struct {
		name   string
		h      http.HandlerFunc
		class  model.Class
		detail string
	}{
		{"html 200", answer(200, "text/html", page), model.ClassMalformed, "expected a stream, got text/html: a web page: Access denied"},
		{"html 403", answer(403, "text/html", page), model.ClassInvalid, "a web page: Access denied"},
		{"html 503", answer(503, "text/html", page), model.ClassOverloaded, "a web page: Access denied"},
		{"html 404", answer(404, "text/html", "<html>model</html>"), model.ClassInvalid, "a web page: model"},
		{"json 200", answer(200, "application/json", `{"choices":[]}`), model.ClassMalformed,
			`expected a stream, got application/json: {"choices":[]}`},
		{"json error 200", answer(200, "application/json", `{"error":{"message":"Rate limit reached"}}`), model.ClassRateLimit,
			"Rate limit reached"},
		{"text that is no stream", answer(200, "text/plain", "upstream is away"), model.ClassMalformed, "unexpected answer: upstream is away"},
		{"nothing", answer(200, "text/event-stream", ""), model.ClassEmpty, "the service closed the connection without an answer"},
		{"only comments", answer(200, "text/event-stream", ": hello\n\n"), model.ClassEmpty, "the service closed the connection without an " +
			"answer"},
		{"204", answer(204, "text/event-stream", ""), model.ClassServer, ""},
		{"encoding", answer(200, "text/event-stream", "x", "Content-Encoding", "br"), model.ClassMalformed,
			"the answer is encoded as br, which was not asked for"},
		{"not gzip", answer(200, "text/event-stream", "not packed at all", "Content-Encoding", "gzip"), model.ClassMalformed,
			"reading a compressed answer: gzip: invalid header"},
		{"long line", answer(200, "text/event-stream", "data: "+strings.Repeat("x", 11<<20)), model.ClassMalformed,
			"sse: line or event is longer than the limit of 10485760 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, _, err := run(t, serve(t, tt.h))
			var e *model.Error
			if !errors.As(err, &e) || e.Class != tt.class || e.Detail != tt.detail {
				t.Errorf("got %#v", err)
			}
		})
	}
}

func TestPackedAnswer(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, data("packed", "END"))
		z.Close()
	})
	if text, _, _, err := run(t, s); text != "packed" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// The key and the conversation never follow a redirect to another origin.
func TestSec_A_EXFIL_redirect_does_not_carry_the_key(t *testing.T) {
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reached = true }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/elsewhere?token=abc", status)
		})
		_, _, _, err := run(t, s)
		var e *model.Error
		if !errors.As(err, &e) || e.Class != model.ClassInvalid || e.Status != status {
			t.Errorf("%d: got %v", status, err)
		}
		if want := "the server redirects to " + other.URL + "/elsewhere"; e != nil && e.Detail != want {
			t.Errorf("%d: detail %q, want %q", status, e.Detail, want)
		}
	}
	if reached {
		t.Error("the other origin was asked")
	}
}

func TestRedirectInsideTheOrigin(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ask" {
			http.Redirect(w, r, "/v2/ask", http.StatusPermanentRedirect)
			return
		}
		stream(data("there", "END"))(w, r)
	})
	if text, _, _, err := run(t, s); text != "there" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	loop := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusPermanentRedirect)
	})
	if _, _, _, err := run(t, loop); model.ClassOf(err) != model.ClassInvalid {
		t.Errorf("a loop gave %v", err)
	}
}

func TestFault_F_PROV_09_unreachable(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	tlsServer := httptest.NewUnstartedServer(nil)
	tlsServer.Config.ErrorLog = log.New(io.Discard, "", 0)
	tlsServer.StartTLS()
	defer tlsServer.Close()
	plain := httptest.NewServer(nil)
	defer plain.Close()
	tests := []struct {
		name, base string
		class      model.Class
	}{
		{"refused", closed.URL, model.ClassConnect},
		{"unknown certificate", tlsServer.URL, model.ClassConnect},
		{"not TLS", strings.Replace(plain.URL, "http:", "https:", 1), model.ClassConnect},
		{"no address", "", model.ClassInvalid},
		{"no scheme", "example.com/v1", model.ClassInvalid},
		{"wrong scheme", "ftp://example.com", model.ClassInvalid},
		{"nonsense", "http://[::1", model.ClassInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := &http.Transport{}
			defer tr.CloseIdleConnections()
			_, _, _, err := run(t, &Service{BaseURL: tt.base, HTTP: &http.Client{Transport: tr}})
			if model.ClassOf(err) != tt.class {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The network's own errors repeat the address; a password in it must not show.
func TestTransportErrorsHideTheAddress(t *testing.T) {
	f := fault{service: &Service{}, parent: t.Context(), ctx: t.Context()}
	err := f.of(&url.Error{Op: "Post", URL: "https://user:hunter2@example.com", Err: errors.New("odd")})
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestKeyWithLineBreak(t *testing.T) {
	s := serve(t, stream(data("x", "END")))
	s.Key = func() string { return "two\nlines" }
	_, _, _, err := run(t, s)
	if model.ClassOf(err) != model.ClassAuth || strings.Contains(err.Error(), "lines") {
		t.Errorf("got %v", err)
	}
}

func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := serve(t, stream(data("x", "END")))
	for _, err := range s.Stream(ctx, wordsDialect(), model.Request{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

func TestFault_F_PROV_05_retry_after(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		header, value string
		want          time.Duration
	}{
		{"Retry-After", "", 0},
		{"Retry-After", "0", 0},
		{"Retry-After", "1", time.Second},
		{"Retry-After", "30", 30 * time.Second},
		{"Retry-After", "2.5", 2500 * time.Millisecond},
		{"Retry-After", "7s", 7 * time.Second},
		{"Retry-After", "3600", time.Hour},
		{"Retry-After", "-1", 0},
		{"Retry-After", "abc", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "1e300", 24 * time.Hour},
		{"Retry-After", "Inf", 24 * time.Hour},
		{"Retry-After", "Fri, 20 Nov 2026 12:01:00 GMT", time.Minute},
		{"Retry-After", "Fri, 20 Nov 2020 12:01:00 GMT", 0},
		{"Retry-After", "Fri, 20 Nov 2099 12:01:00 GMT", 24 * time.Hour},
		{"Retry-After-Ms", "1500", 1500 * time.Millisecond},
	}
	for _, tt := range tests {
		h := http.Header{}
		h.Set(tt.header, tt.value)
		if got := retryAfter(h, func() time.Time { return now }); got != tt.want {
			t.Errorf("%s: %q gives %v, want %v", tt.header, tt.value, got, tt.want)
		}
	}
}

func TestClean(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain words", "plain words"},
		{"two\nlines\r\n\tand more", "two lines and more"},
		{"a\x00b\x1b[31mred\x07", "ab[31mred"},
		{"right\u202eto left\u2066", "rightto left"},
		{"bad\xff utf-8", "bad utf-8"},
		{"key my-secret-key is wrong", "key [redacted] is wrong"},
		{"Incorrect API key provided: sk-abc***xyz.", "Incorrect API key provided: [redacted]."},
		{"(token 'hf_abcdefgh')", "(token '[redacted]')"},
		{"url?key=AIzaSyABCDEF is bad", "url?key=[redacted] is bad"},
		{"sk-1 is short", "sk-1 is short"},
		{strings.Repeat("ä", 300), strings.Repeat("ä", 98) + "…"},
	}
	for _, tt := range tests {
		if got := Clean(tt.in, 200, "my-secret-key"); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("Incorrect API key provided: sk-abc***xyz.\n\x1b[0m")
	f.Add(strings.Repeat("🏠", 80))
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s, 200, "secret")
		if len(got) > 200 || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x00\x1b\u202e") || strings.Contains(got, "secret") {
			t.Errorf("%q gives %q", s, got)
		}
	})
}

func TestMend(t *testing.T) {
	text := func(r model.Role, s string) model.Message {
		return model.Message{Role: r, Blocks: []model.Block{{Text: s}}}
	}
	call := func(ids ...string) model.Message {
		m := model.Message{Role: model.RoleAssistant}
		for _, id := range ids {
			m.Blocks = append(m.Blocks, model.Block{ToolCall: &model.ToolCall{ID: id, Name: "t", Arguments: []byte("{}")}})
		}
		return m
	}
	result := func(id, s string) model.Message {
		return model.Message{Role: model.RoleTool, Blocks: []model.Block{{ToolResult: &model.ToolResult{CallID: id, Name: "t", Text: s}}}}
	}
	lost := func(id string) model.Message {
		m := result(id, interrupted)
		m.Blocks[0].ToolResult.IsError = true
		return m
	}
	u, a := text(model.RoleUser, "u"), text(model.RoleAssistant, "a")
	tests := []struct {
		name     string
		in, want []model.Message
	}{
		{"whole", []model.Message{u, call("1"), result("1", "r"), a}, []model.Message{u, call("1"), result("1", "r"), a}},
		{"result missing", []model.Message{u, call("1"), u}, []model.Message{u, call("1"), lost("1"), u}},
		{"one of two missing", []model.Message{u, call("1", "2"), result("2", "r")}, []model.Message{u, call("1", "2"), lost("1"),
			result("2", "r")}},
		{"result without call", []model.Message{u, result("9", "r"), a}, []model.Message{u, a}},
		{"result late", []model.Message{u, call("1"), u, result("1", "r")}, []model.Message{u, call("1"), result("1", "r"), u}},
		{"result twice", []model.Message{u, call("1"), result("1", "r"), result("1", "s")}, []model.Message{u, call("1"), result("1", "r")}},
		{"id used again", []model.Message{call("1"), u, call("1"), result("1", "r"), result("1", "s")}, []model.Message{call("1"), lost("1"), u,
			call("1_2"), result("1_2", "r")}},
		{"nothing said", []model.Message{u, text(model.RoleAssistant, ""), {Role: model.RoleUser}}, []model.Message{u}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Mend(tt.in)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
}

func ExampleClean() {
	fmt.Println(Clean("Incorrect API key:\n sk-123456789", 200))
	// Output: Incorrect API key: [redacted]
}

// A question takes the connection of the one before, also where a service ends its
// answer a moment after its last event and whoever asked left with that.
func TestAConnectionIsUsedAgain(t *testing.T) {
	left := make(chan bool)
	var connections atomic.Int32
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, data("hello", "END"))
		http.NewResponseController(w).Flush()
		<-left
	}))
	ts.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	ts.Start()
	defer ts.Close()
	s := &Service{BaseURL: ts.URL, HTTP: ts.Client()}
	for range 3 {
		for ev, err := range s.Stream(t.Context(), wordsDialect(), model.Request{Model: "m"}) {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Kind == model.EventStop {
				left <- true
				break
			}
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("three questions took %d connections", n)
	}
}
