package provider_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/anthropic"
	"github.com/hearth-assistant/hearth/gateway/provider/bedrock"
	"github.com/hearth-assistant/hearth/gateway/provider/gemini"
	"github.com/hearth-assistant/hearth/gateway/provider/ollama"
	"github.com/hearth-assistant/hearth/gateway/provider/openai"
	"github.com/hearth-assistant/hearth/gateway/provider/responses"
	"github.com/hearth-assistant/hearth/gateway/provider/scripted"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-test-0123456789"

// server is a scripted model server with a client of its own.
type server struct {
	*scripted.Handler
	http *http.Client
	url  string
}

func newServer(t *testing.T) *server {
	t.Helper()
	h := scripted.New()
	ts := httptest.NewServer(h)
	t.Cleanup(func() {
		ts.CloseClientConnections()
		ts.Close()
	})
	return &server{Handler: h, http: ts.Client(), url: ts.URL}
}

// dialects makes a provider of each dialect for one server.
func (s *server) dialects(change func(*wire.Service)) map[string]model.Provider {
	svc := func(base string) wire.Service {
		w := wire.Service{Ref: model.Ref{Provider: "p", Model: "m"}, BaseURL: s.url + base, HTTP: s.http,
			Key: func() string { return testKey }, FirstByte: 5 * time.Second, Idle: 5 * time.Second}
		if change != nil {
			change(&w)
		}
		return w
	}
	signed := svc("")
	signed.Prepare = bedrock.Signer{Key: signed.Key, Now: time.Now}.Prepare
	return map[string]model.Provider{
		"openai":    openai.New(svc("/v1"), openai.Quirks{}),
		"responses": responses.New(svc("/v1"), responses.Quirks{}),
		"anthropic": anthropic.New(svc(""), anthropic.Quirks{}),
		"gemini":    gemini.New(svc("/v1beta"), gemini.Quirks{}),
		"ollama":    ollama.New(svc(""), ollama.Quirks{}),
		"bedrock":   bedrock.New(signed, bedrock.Quirks{}),
	}
}

// inOnePiece are the dialects asked not to stream.
func (s *server) inOnePiece() map[string]model.Provider {
	return s.dialects(func(w *wire.Service) {
		w.FirstByte, w.Idle, w.Whole = 5*time.Second, 5*time.Second, true
	})
}

// noLimits leaves the default times.
func noLimits(w *wire.Service) { w.FirstByte, w.Idle = 0, 0 }

func ask(id, text string) model.Request {
	return model.Request{Model: id, System: "be brief", Messages: []model.Message{
		{Role: model.RoleUser, Blocks: []model.Block{{Text: text}}}}}
}

func withTools(r model.Request) model.Request {
	r.Tools = []model.ToolSpec{{Name: "session_status", Description: "d", Schema: []byte(`{"type":"object"}`)}}
	return r
}

// outcome is what a stream came to.
type outcome struct {
	text, thinking string
	calls          []model.ToolCall
	usage          model.Usage
	stop           model.StopReason
	err            error
}

func (o outcome) class() model.Class {
	if o.err == nil {
		return ""
	}
	return model.ClassOf(o.err)
}

// collect checks the promises of model.Provider on the way.
func collect(t *testing.T, ctx context.Context, p model.Provider, req model.Request) (o outcome) {
	t.Helper()
	ended := false
	for ev, err := range p.Stream(ctx, req) {
		if ended {
			t.Fatalf("an event after the end: %+v, %v", ev, err)
		}
		if err != nil {
			o.err, ended = err, true
			continue
		}
		switch ev.Kind {
		case model.EventText:
			o.text += ev.Text
		case model.EventThinking:
			o.thinking += ev.Text
		case model.EventToolCall:
			o.calls = append(o.calls, *ev.Call)
		case model.EventUsage:
			o.usage = ev.Usage
		case model.EventStop:
			o.stop, ended = ev.Stop, true
		}
	}
	if !ended {
		t.Fatal("the stream ended without a stop or an error")
	}
	return o
}

func TestAnswers(t *testing.T) {
	s := newServer(t)
	tests := []struct {
		model, text, thinking string
		stop                  model.StopReason
	}{
		{"echo", "echo: hi  there 🏠", "", model.StopEnd},
		{"stream-3-0", "re: hi  there 🏠\nw1 w2 w3 ", "", model.StopEnd},
		{"think", "echo: hi  there 🏠", "Let me think about that.", model.StopEnd},
		{"long-20", scripted.Markdown(20 << 10), "", model.StopEnd},
		{"fault-slowfirst-20", "echo: hi  there 🏠", "", model.StopEnd},
	}
	for name, p := range s.dialects(nil) {
		for _, tt := range tests {
			t.Run(name+"/"+tt.model, func(t *testing.T) {
				o := collect(t, t.Context(), p, ask(tt.model, "hi  there 🏠"))
				if o.err != nil || o.text != tt.text || o.thinking != tt.thinking || o.stop != tt.stop {
					t.Errorf("got %q, %q, %q, %v", o.text, o.thinking, o.stop, o.err)
				}
				if o.usage.Total() == 0 || o.usage.Input+o.usage.CacheRead != 10 {
					t.Errorf("usage %+v", o.usage)
				}
			})
		}
	}
	if !s.SawKey(testKey) {
		t.Error("the key did not arrive")
	}
}

func TestTools(t *testing.T) {
	s := newServer(t)
	for name, p := range s.dialects(nil) {
		t.Run(name, func(t *testing.T) {
			req := withTools(ask("tool-session_status", "status? "+name))
			o := collect(t, t.Context(), p, req)
			if o.err != nil || o.stop != model.StopTool || len(o.calls) != 1 {
				t.Fatalf("got %+v", o)
			}
			c := o.calls[0]
			if c.Name != "session_status" || string(c.Arguments) != "{}" || c.ID == "" {
				t.Errorf("call %+v", c)
			}
			req.Messages = append(req.Messages,
				model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{ToolCall: &c}}},
				model.Message{Role: model.RoleTool,
					Blocks: []model.Block{{ToolResult: &model.ToolResult{CallID: c.ID, Name: c.Name, Text: "all well"}}}})
			o = collect(t, t.Context(), p, req)
			if o.text != "The tool said: all well" || o.stop != model.StopEnd {
				t.Errorf("got %+v", o)
			}
		})
		t.Run(name+"/parallel", func(t *testing.T) {
			o := collect(t, t.Context(), p, withTools(ask("tools-200", "many")))
			ids := map[string]bool{}
			for i, c := range o.calls {
				ids[c.ID] = true
				if want := fmt.Sprintf(`{"n":%d}`, i); string(c.Arguments) != want {
					t.Fatalf("call %d has %s", i, c.Arguments)
				}
			}
			if o.err != nil || len(ids) != 200 {
				t.Errorf("%d distinct calls, %v", len(ids), o.err)
			}
		})
	}
}

// Every dialect against every fault: the class, and the text that had arrived.
func TestFault_F_PROV_10_dialects_and_faults(t *testing.T) {
	s := newServer(t)
	tests := []struct {
		model  string
		class  model.Class
		text   string
		status int
	}{
		{"fault-401", model.ClassAuth, "", 401},
		{"fault-402", model.ClassBilling, "", 402},
		{"fault-403", model.ClassAuth, "", 403},
		{"fault-404", model.ClassNoModel, "", 404},
		{"fault-413", model.ClassContext, "", 413},
		{"fault-429-7", model.ClassRateLimit, "", 429},
		{"fault-500", model.ClassServer, "", 500},
		{"fault-502", model.ClassServer, "", 502},
		{"fault-503", model.ClassOverloaded, "", 503},
		{"fault-529", model.ClassOverloaded, "", 529},
		{"fault-context", model.ClassContext, "", 400},
		{"fault-billing", model.ClassBilling, "", 400},
		{"fault-html", model.ClassMalformed, "", 200},
		{"fault-gzip", model.ClassInterrupted, "", 0},
		{"fault-empty", model.ClassEmpty, "", 0},
		{"fault-thinkonly", model.ClassEmpty, "", 0},
		{"fault-malformed", model.ClassMalformed, "fine ", 0},
		{"fault-cut-0", model.ClassInterrupted, "", 0},
		{"fault-cut-3", model.ClassInterrupted, "w1 w2 w3 ", 0},
		{"fault-cut-tool", model.ClassInterrupted, "", 0},
	}
	for name, p := range s.dialects(nil) {
		for _, tt := range tests {
			t.Run(name+"/"+tt.model, func(t *testing.T) {
				o := collect(t, t.Context(), p, withTools(ask(tt.model, "hello")))
				var e *model.Error
				if !errors.As(o.err, &e) {
					t.Fatalf("got %v, want a model error", o.err)
				}
				if e.Class != tt.class || e.Status != tt.status || o.text != tt.text {
					t.Errorf("got %s, status %d, text %q; want %s, %d, %q (%v)", e.Class, e.Status, o.text, tt.class, tt.status, tt.text, e)
				}
				if e.Ref != (model.Ref{Provider: "p", Model: tt.model}) {
					t.Errorf("ref %v", e.Ref)
				}
				if len(o.calls) != 0 {
					t.Errorf("tool calls of a failed answer were given out: %+v", o.calls)
				}
				if strings.Contains(e.Error(), "sk-") || len(e.Detail) > 200 || strings.ContainsAny(e.Detail, "\n\r\x00") {
					t.Errorf("detail is not clean: %q", e.Detail)
				}
				if tt.model == "fault-429-7" && e.RetryAfter != 7*time.Second {
					t.Errorf("retry after %v", e.RetryAfter)
				}
			})
		}
	}
}

func TestFault_F_PROV_19_FaultsOfOneDialect(t *testing.T) {
	s := newServer(t)
	ps := s.dialects(nil)
	tests := []struct {
		dialect, model string
		class          model.Class
		stop           model.StopReason
	}{
		{"openai", "fault-json", model.ClassMalformed, ""},
		{"anthropic", "fault-json", model.ClassMalformed, ""},
		{"ollama", "fault-json", model.ClassInterrupted, ""}, // a line that is not the last
		{"openai", "fault-stream-error", model.ClassServer, ""},
		{"anthropic", "fault-stream-error", model.ClassOverloaded, ""},
		{"ollama", "fault-stream-error", model.ClassServer, ""},
		{"openai", "fault-refusal", "", model.StopRefusal},
		{"anthropic", "fault-refusal", "", model.StopRefusal},
	}
	for _, tt := range tests {
		t.Run(tt.dialect+"/"+tt.model, func(t *testing.T) {
			o := collect(t, t.Context(), ps[tt.dialect], ask(tt.model, "hello"))
			if o.class() != tt.class || o.stop != tt.stop {
				t.Errorf("got %q, %q, %v", o.class(), o.stop, o.err)
			}
		})
	}
}

// A model that cannot use tools is asked again without them.
func TestWithoutTools(t *testing.T) {
	s := newServer(t)
	for name, p := range s.dialects(nil) {
		t.Run(name, func(t *testing.T) {
			text := "no tools " + name
			o := collect(t, t.Context(), p, withTools(ask("fault-notools", text)))
			if o.err != nil || o.text != "echo: "+text || s.Calls(text) != 2 {
				t.Errorf("got %+v after %d calls", o, s.Calls(text))
			}
		})
	}
}

func TestOnceThenGood(t *testing.T) {
	s := newServer(t)
	for name, p := range s.dialects(nil) {
		first := collect(t, t.Context(), p, ask("fault-once-500", name))
		second := collect(t, t.Context(), p, ask("fault-once-500", name))
		if first.class() != model.ClassServer || second.text != "echo: "+name {
			t.Errorf("%s: got %+v, then %+v", name, first, second)
		}
	}
}

// After a whole answer the connection is used again.
func TestConnectionIsKept(t *testing.T) {
	s := newServer(t)
	for name, p := range s.dialects(nil) {
		reused := false
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }})
		for range 2 {
			if o := collect(t, ctx, p, ask("echo", "x")); o.err != nil {
				t.Fatal(o.err)
			}
		}
		if !reused {
			t.Errorf("%s: a new connection for each answer", name)
		}
	}
}
