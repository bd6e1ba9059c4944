package openaiserver

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pairing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (write it anew with -update): %s", name, diff)
	}
}

// A-NET-20: every route with every right. A change of this table is a change of
// who may do what.
func TestSec_A_NET_20_RoutesAndRights(t *testing.T) {
	w := newWorld(t, Limits{}, echo)
	w.vectors = true
	var b strings.Builder
	name := func(s pairing.ClientScope) string {
		if s == pairing.ClientOwner {
			return "owner, chat"
		}
		return string(s)
	}
	for _, route := range []struct{ method, path, body string }{
		{"POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}]}`},
		{"POST", "/v1/responses", `{"input":"x"}`},
		{"POST", "/v1/embeddings", `{"input":"x"}`},
		{"GET", "/v1/models", ""},
		{"GET", "/v1/models/chat/echo", ""},
		{"GET", "/v1/chat/completions", ""},
		{"POST", "/v1/tools/invoke", `{"tool":"exec"}`},
		{"DELETE", "/v1/models/hearth", ""},
		{"OPTIONS", "/v1/chat/completions", ""},
	} {
		fmt.Fprintf(&b, "%s %s\n", route.method, route.path)
		for _, s := range append(pairing.ClientScopes(), "") {
			status, _, _ := w.do(route.method, route.path, route.body, "Authorization", "Bearer "+w.tokens[s])
			fmt.Fprintf(&b, "  %-12s %d\n", name(s), status)
		}
	}
	golden(t, "rights.golden", b.String())
}

// A-WEB-09: what is off is not there, whoever asks.
func TestSec_A_WEB_09_OffMeansNothingIsThere(t *testing.T) {
	w := newWorld(t, Limits{}, echo)
	w.on = Endpoints{}
	seen := map[string]bool{}
	for _, path := range []string{"/v1/chat/completions", "/v1/responses", "/v1/models", "/v1/nothing", "/v1/"} {
		for _, token := range []string{"", "wrong", w.tokens["all"]} {
			status, body, h := w.do("POST", path, `{}`, "Authorization", "Bearer "+token)
			seen[fmt.Sprint(status, body, h.Get("Content-Type"))] = true
		}
	}
	if len(seen) != 1 || w.decided.Load() != 0 {
		t.Errorf("%v, %d tokens were looked at", seen, w.decided.Load())
	}
	w.on = Endpoints{Chat: true}
	if status, _, _ := w.do("POST", "/v1/responses", `{"input":"x"}`); status != 404 {
		t.Error("responses are on")
	}
}

// An address that there is says with which method it is asked, in OpenAI's form, and
// what is off says how it is switched on.
func TestOtherMethodsAndWhatIsOff(t *testing.T) {
	w := newWorld(t, Limits{}, echo)
	var body struct {
		Error struct {
			Message, Type, Code string
			Param               *string
		}
	}
	read := func(method, path string) (int, http.Header) {
		t.Helper()
		status, raw, h := w.do(method, path, `{}`)
		if err := json.Unmarshal([]byte(raw), &body); err != nil || h.Get("Content-Type") != "application/json" ||
			body.Error.Type != "invalid_request_error" {
			t.Errorf("%s %s: %v %q", method, path, err, raw)
		}
		return status, h
	}
	for _, x := range []struct{ method, path, allow string }{
		{"GET", "/v1/chat/completions", "POST"}, {"PUT", "/v1/chat/completions", "POST"}, {"DELETE", "/v1/responses", "POST"},
		{"GET", "/v1/embeddings", "POST"}, {"POST", "/v1/models", "GET, HEAD"}, {"DELETE", "/v1/models/chat/echo", "GET, HEAD"},
	} {
		if status, h := read(x.method, x.path); status != 405 || h.Get("Allow") != x.allow || body.Error.Code != "method_not_supported" ||
			!strings.HasPrefix(body.Error.Message, x.path+" is asked with "+x.allow[:3]) {
			t.Errorf("%s %s: %d %q %+v", x.method, x.path, status, h.Get("Allow"), body)
		}
	}
	if status, h := read("GET", "/v1/nothing"); status != 404 || h.Get("Allow") != "" {
		t.Errorf("%d %q", status, h.Get("Allow"))
	}
	w.on = Endpoints{Responses: true}
	for _, method := range []string{"GET", "POST"} {
		if status, h := read(method, "/v1/chat/completions"); status != 404 || h.Get("Allow") != "" ||
			!strings.Contains(body.Error.Message, "`hearth config set gateway.http.endpoints.chatCompletions.enabled true`") {
			t.Errorf("off: %d %+v", status, body)
		}
	}
}

// A-NET-27: all that goes wrong before sign-in looks the same.
func TestSec_A_NET_27_OneRefusal(t *testing.T) {
	w := newWorld(t, Limits{}, echo)
	if _, err := w.clients.Revoke(t.Context(), "mcp"); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, token := range []string{"", "x", "hearth_", w.tokens["mcp"], w.tokens["all"] + "x", strings.ToUpper(w.tokens["all"])} {
		for _, path := range []string{"/v1/models", "/v1/nothing"} {
			status, body, _ := w.do("GET", path, "", "Authorization", "Bearer "+token)
			if seen[body] = true; status != 401 {
				t.Errorf("%q: %d", token, status)
			}
		}
	}
	if len(seen) != 1 {
		t.Errorf("%v", seen)
	}
}

// counter counts what is read of a body.
type counter struct {
	mu   sync.Mutex
	read int
	left int
}

func (c *counter) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(p), c.left)
	if n == 0 {
		return 0, io.EOF
	}
	for i := range n {
		p[i] = ' '
	}
	c.read += n
	c.left -= n
	return n, nil
}

// A-DOS-11: nobody's body is read before the token is known, and nobody's is
// larger than it may be.
func TestSec_A_DOS_11_Bodies(t *testing.T) {
	w := newWorld(t, Limits{Body: 1 << 20}, echo)
	for _, x := range []struct {
		token  string
		status int
		most   int
	}{{"wrong", 401, 8 << 20}, {w.tokens["all"], 413, 8 << 20}} {
		body := &counter{left: 200 << 20}
		req, err := http.NewRequestWithContext(t.Context(), "POST", w.url+"/v1/chat/completions", body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+x.token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			if _ = resp.Body.Close(); resp.StatusCode != x.status {
				t.Errorf("%d, want %d", resp.StatusCode, x.status)
			}
		}
		body.mu.Lock()
		if body.read > x.most {
			t.Errorf("%d bytes left the program", body.read)
		}
		body.mu.Unlock()
	}
}

// A-DOS-03: a body that trickles in is not waited for.
func TestSec_A_DOS_03_SlowBody(t *testing.T) {
	w := newWorld(t, Limits{ReadBody: 50 * time.Millisecond}, echo)
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: 100\r\n\r\n{", w.tokens["all"])
	raw, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(raw), "HTTP/1.1 408") {
		t.Errorf("%v %q", err, raw)
	}
}

// A-WEB-05: a form of another page sends no JSON, and its cookies say nothing.
func TestSec_A_WEB_05_NoJSONNoAnswer(t *testing.T) {
	w := newWorld(t, Limits{}, echo)
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx",
		"text/plain; application/json"} {
		if status, _, h := w.do("POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}]}`, "Content-Type",
			kind); status != 415 || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%q: %d", kind, status)
		}
	}
	if status, _, _ := w.do("POST", "/v1/chat/completions", `{}`, "Content-Encoding", "gzip"); status != 415 {
		t.Error("compressed")
	}
	for _, headers := range [][]string{{"Authorization", ""}, {"Authorization", "", "Cookie", "token=" + w.tokens["all"]},
		{"Authorization", "", "X-Api-Key", w.tokens["all"]}} {
		if status, _, _ := w.do("GET", "/v1/models?access_token="+w.tokens["all"], "", headers...); status != 401 {
			t.Errorf("%v: %d", headers[:1], status)
		}
	}
}

// A-DOS-08: one program does not take everybody's place.
func TestSec_A_DOS_08_PlacesAndRates(t *testing.T) {
	let := make(chan struct{})
	w := newWorld(t, Limits{PerClient: 2, All: 3}, func(w *world, a Ask) { <-let; echo(w, a) })
	open := func(token string) {
		go func() {
			resp, err := http.DefaultClient.Do(w.request("POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}]}`,
				"Authorization", "Bearer "+token))
			if err == nil {
				_ = resp.Body.Close()
			}
		}()
	}
	open(w.tokens["all"])
	open(w.tokens["all"])
	w.wait("two requests", func() bool { return len(w.asks) == 2 })
	status, raw, h := w.do("GET", "/v1/models", "")
	if status != 429 || h.Get("Retry-After") == "" || !strings.Contains(raw, "rate_limit_error") {
		t.Errorf("a third of one program: %d %s", status, raw)
	}
	if status, raw, _ := w.do("GET", "/v1/models", "", "Authorization", "Bearer "+w.tokens["models"]); status != 200 {
		t.Errorf("another program: %d %s", status, raw)
	}
	open(w.tokens["chat"])
	w.wait("three requests", func() bool { return len(w.asks) == 3 })
	if status, _, _ := w.do("GET", "/v1/models", "", "Authorization", "Bearer "+w.tokens["models"]); status != 429 {
		t.Errorf("a fourth of all: %d", status)
	}
	close(let)

	w = newWorld(t, Limits{Rate: 0.001, Burst: 3}, echo)
	for i := range 5 {
		if status, _, _ := w.do("GET", "/v1/models", ""); (status == 429) != (i >= 3) {
			t.Errorf("request %d: %d", i, status)
		}
	}
}

// A program that asks for much and reads nothing is cut off, and its answer
// stopped.
func TestFault_F_NET_SlowReader(t *testing.T) {
	w := newWorld(t, Limits{Write: 100 * time.Millisecond}, nil)
	w.play = func(w *world, a Ask) {
		for range 4000 {
			w.h.Say(a.RunID, strings.Repeat("x", 16<<10))
			if w.h.turns.of(a.RunID) == nil {
				break
			}
		}
	}
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := `{"stream":true,"messages":[{"role":"user","content":"x"}]}`
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", w.tokens["all"], len(body), body)
	w.wait("the stop", func() bool { return len(w.stopped) == 1 })
}

func TestProgramThatLeaves(t *testing.T) {
	w := newWorld(t, Limits{}, func(w *world, a Ask) { w.h.Say(a.RunID, "one") })
	for _, stream := range []string{"true", "false"} {
		ctx, leave := context.WithCancel(t.Context())
		req := w.request("POST", "/v1/chat/completions", `{"stream":`+stream+`,"messages":[{"role":"user","content":"x"}]}`).WithContext(ctx)
		n := len(w.stopped)
		done := make(chan struct{})
		go func() {
			defer close(done)
			if resp, err := http.DefaultClient.Do(req); err == nil {
				_, _ = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			}
		}()
		w.wait("the request", func() bool { return len(w.asks) == n+1 })
		leave()
		w.wait("the stop", func() bool { return len(w.stopped) == n+1 })
		<-done
	}
}

// Failures look as OpenAI's do: with a status before the first word, as an event
// behind it.
func TestFaults(t *testing.T) {
	ends := map[string]End{
		"rate":    {State: Failed, Kind: "rate_limit", Problem: "The service is busy."},
		"time":    {State: Failed, Kind: "timeout", Problem: "Too long."},
		"context": {State: Failed, Kind: "context_length", Problem: "Too much was said."},
		"refusal": {State: Failed, Kind: "refusal", Problem: "The model declined."},
		"unknown": {State: Failed, Kind: "unknown", Problem: "The service cannot be reached."},
		"stopped": {State: Stopped},
		"dropped": {State: Dropped},
	}
	w := newWorld(t, Limits{}, func(w *world, a Ask) {
		name, late := strings.CutPrefix(a.Text, "late ")
		if late {
			w.h.Say(a.RunID, "one ")
		}
		w.end(a.RunID, ends[name])
	})
	for name, want := range map[string]string{
		"rate": "429 rate_limit_error", "time": "504 api_error", "context": "400 context_length_exceeded", "refusal": "400 content_filter",
		"unknown": "502 api_error", "stopped": "409 stopped", "dropped": "429 queue_full", "refuse": "400 No.", "break": "500 hearth logs",
	} {
		status, words, _ := strings.Cut(want, " ")
		for _, path := range []string{"chat/completions", "responses"} {
			for _, stream := range []string{"false", "true"} {
				body := `{"stream":` + stream + `,"messages":[{"role":"user","content":"` + name + `"}],"input":"` + name + `"}`
				got, raw, h := w.do("POST", "/v1/"+path, body)
				if fmt.Sprint(got) != status || !strings.Contains(raw, words) || strings.Contains(raw, "secret") ||
					h.Get("Content-Type") != "application/json" {
					t.Errorf("%s %s stream=%s: %d %s", path, name, stream, got, raw)
				}
			}
		}
		if ends[name].State == "" {
			continue
		}
		_, raw, _ := w.do("POST", "/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"late `+name+`"}]}`)
		if last := strings.Split(strings.TrimSpace(raw), "\n\n"); !strings.HasPrefix(last[len(last)-1], `data: {"error":`) ||
			strings.Contains(raw, "[DONE]") {
			t.Errorf("%s: %s", name, raw)
		}
		_, raw, _ = w.do("POST", "/v1/responses", `{"stream":true,"input":"late `+name+`"}`)
		if last := strings.Split(strings.TrimSpace(raw), "\n\n"); !strings.HasPrefix(last[len(last)-1], "event: response.failed\n") {
			t.Errorf("%s: %s", name, raw)
		}
	}
}

// A stream that is quiet gets a line now and then.
func TestQuietStreamsAreKeptOpen(t *testing.T) {
	for path, begin := range map[string]string{"chat/completions": ": still here", "responses": "event: response.created"} {
		let := make(chan struct{})
		w := newWorld(t, Limits{Quiet: 5 * time.Millisecond}, func(w *world, a Ask) { <-let; echo(w, a) })
		resp, err := http.DefaultClient.Do(w.request("POST", "/v1/"+path,
			`{"stream":true,"messages":[{"role":"user","content":"x"}],"input":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 1000)
		n, err := resp.Body.Read(head)
		if err != nil || !strings.HasPrefix(string(head[:n]), begin) {
			t.Errorf("%v %q", err, head[:n])
		}
		close(let)
		raw, err := io.ReadAll(resp.Body)
		if err != nil || !strings.Contains(string(raw), "echo: ") {
			t.Errorf("%v %s", err, raw)
		}
		_ = resp.Body.Close()
	}
}

func TestStopReasonsAndUsage(t *testing.T) {
	for stop, want := range map[model.StopReason][3]string{
		model.StopEnd:    {`"finish_reason":"stop"`, "completed", `null`},
		model.StopLength: {`"finish_reason":"length"`, "incomplete", `{"reason":"max_output_tokens"}`},
		model.StopRefusal: {`"finish_reason":"content_filter"`, "incomplete",
			`{"reason":"content_filter"}`},
	} {
		for _, said := range []string{"half", ""} {
			w := newWorld(t, Limits{}, func(w *world, a Ask) {
				if said != "" {
					w.h.Say(a.RunID, said)
				}
				w.end(a.RunID, End{State: Answered, Stop: stop, Usage: model.Usage{Input: 3, Output: 2, CacheRead: 1}})
			})
			if _, raw := w.chat(`[{"role":"user","content":"x"}]`); !strings.Contains(raw, want[0]) || !strings.Contains(compact(t, raw),
				`"usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6,"prompt_tokens_details":{"cached_tokens":1}}`) {
				t.Error(raw)
			}
			_, raw, _ := w.do("POST", "/v1/responses", `{"input":"x"}`)
			_, streamed, _ := w.do("POST", "/v1/responses", `{"input":"x","stream":true}`)
			last := streamed[strings.LastIndex(strings.TrimSpace(streamed), "\n\n")+2:]
			if !strings.HasPrefix(last, "event: response."+want[1]+"\n") || strings.Count(streamed, `"type":"response.output_item.done"`) != 1 {
				t.Error(streamed)
			}
			for _, whole := range []string{raw, last} {
				if !strings.Contains(whole, `"incomplete_details":`+want[2]) || strings.Count(whole, `"status":"`+want[1]+`"`) != 2 {
					t.Errorf("%s %q: %s", stop, said, whole)
				}
			}
		}
	}
}

func TestVectors(t *testing.T) {
	w := newWorld(t, Limits{}, echo)
	if status, raw, h := w.do("POST", "/v1/embeddings", `{"input":"x"}`); status != 501 || h.Get("X-Should-Retry") != "false" {
		t.Errorf("%d %s", status, raw)
	}
	w.vectors = true
	if status, raw, _ := w.do("POST", "/v1/embeddings", `{"input":["x","y"]}`); status != 200 ||
		!strings.Contains(raw, `"embedding":[1,-0.5,1]`) {
		t.Errorf("%d %s", status, raw)
	}
	if _, raw, _ := w.do("POST", "/v1/embeddings", `{"input":"x","encoding_format":"base64"}`); !strings.Contains(raw,
		`"embedding":"AACAPwAAAL8AAAAA"`) {
		t.Error(raw)
	}
	for _, body := range []string{`{}`, `{"input":[]}`, `{"input":""}`, `{"input":[1,2]}`, `{"input":"x","dimensions":3}`,
		`{"input":"x","encoding_format":"int8"}`} {
		if status, raw, _ := w.do("POST", "/v1/embeddings", body); status != 400 {
			t.Errorf("%s: %d %s", body, status, raw)
		}
	}
}

func TestNobodyIsServedAfterTheEnd(t *testing.T) {
	w := newWorld(t, Limits{}, echo)
	w.h.Close()
	if status, raw, _ := w.do("GET", "/v1/models", ""); status != 503 {
		t.Errorf("%d %s", status, raw)
	}
	if err := asError(fmt.Errorf("x: %w", errors.New("/secret"))); strings.Contains(err.Text, "secret") {
		t.Error(err)
	}
}
