package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

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

var update = flag.Bool("update", false, "write what was got into testdata")

// cassette is one recorded exchange: testdata/<dialect>/*.txtar holds ask (a
// conversation in a short notation), sent (the request body that it becomes),
// response (what the service answers) and events (what comes of it).
type cassette struct {
	path, dialect string
	comment       string
	sections      []section
}

type section struct{ name, data string }

func cassettes(t testing.TB) []cassette {
	t.Helper()
	paths, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cassettes", err)
	}
	var all []cassette
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parseCassette(p, string(raw)))
	}
	return all
}

// parseCassette reads the txtar format: a comment, then "-- name --" lines,
// each followed by its data.
func parseCassette(path, raw string) cassette {
	c := cassette{path: path, dialect: filepath.Base(filepath.Dir(path))}
	to := &c.comment
	for line := range strings.Lines(raw) {
		name, ok := strings.CutPrefix(line, "-- ")
		if name, ok2 := strings.CutSuffix(name, " --\n"); ok && ok2 {
			c.sections = append(c.sections, section{name: name})
			to = &c.sections[len(c.sections)-1].data
			continue
		}
		*to += line
	}
	return c
}

func (c cassette) String() string {
	s := c.comment
	for _, sec := range c.sections {
		s += "-- " + sec.name + " --\n" + sec.data
	}
	return s
}

func (c cassette) section(name string) string {
	for _, sec := range c.sections {
		if sec.name == name {
			return sec.data
		}
	}
	return ""
}

func (c *cassette) set(name, data string) {
	for i := range c.sections {
		if c.sections[i].name == name {
			c.sections[i].data = data
			return
		}
	}
	c.sections = append(c.sections, section{name, data})
}

// request reads the ask section: "user: text", "assistant: text",
// "thinking: text", "call: id name args", "result: id name text",
// "error: id name text", "shown: id name text" (a result with a picture),
// "picture: bytes", "signed: signature reasoning", "system: text", "tool: name
// schema", "max: n", "think: level", "model: id".
func (c cassette) request(t testing.TB) model.Request {
	r := model.Request{Model: "test-model"}
	add := func(role model.Role, b model.Block) {
		if n := len(r.Messages); role == model.RoleAssistant && n > 0 && r.Messages[n-1].Role == role {
			r.Messages[n-1].Blocks = append(r.Messages[n-1].Blocks, b)
			return
		}
		r.Messages = append(r.Messages, model.Message{Role: role, Blocks: []model.Block{b}})
	}
	for line := range strings.Lines(c.section("ask")) {
		kind, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		first, tail, _ := strings.Cut(rest, " ")
		second, third, _ := strings.Cut(tail, " ")
		switch kind {
		case "system":
			r.System = rest
		case "user":
			add(model.RoleUser, model.Block{Text: rest})
		case "assistant":
			add(model.RoleAssistant, model.Block{Text: rest})
		case "thinking":
			add(model.RoleAssistant, model.Block{Thinking: rest})
		case "call":
			add(model.RoleAssistant, model.Block{ToolCall: &model.ToolCall{ID: first, Name: second, Arguments: json.RawMessage(third)}})
		case "signed":
			add(model.RoleAssistant, model.Block{Signature: first, Thinking: tail})
		case "picture":
			last := &r.Messages[len(r.Messages)-1]
			last.Blocks = append(last.Blocks, model.Block{Image: &model.Image{MIME: "image/png", Data: []byte(rest)}})
		case "think":
			r.Thinking = rest
		case "model":
			r.Model = rest
		case "result", "error", "shown":
			result := &model.ToolResult{CallID: first, Name: second, Text: third, IsError: kind == "error"}
			if kind == "shown" {
				result.Images = []model.Image{{MIME: "image/png", Data: []byte("pixels")}}
			}
			add(model.RoleTool, model.Block{ToolResult: result})
		case "tool":
			r.Tools = append(r.Tools, model.ToolSpec{Name: first, Description: "Does " + first + ".", Schema: json.RawMessage(tail)})
		case "max":
			fmt.Sscan(rest, &r.MaxTokens)
		default:
			t.Fatalf("%s: odd line %q", c.path, line)
		}
	}
	return r
}

// replay answers every request with the same body.
type replay struct {
	body io.Reader
	typ  string
	sent []byte
}

func (r *replay) RoundTrip(req *http.Request) (*http.Response, error) {
	var err error
	if r.sent, err = io.ReadAll(req.Body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {r.typ}}, Body: io.NopCloser(r.body), Request: req}, nil
}

func (c cassette) provider(body io.Reader) (model.Provider, *replay) {
	r := &replay{body: body, typ: "text/event-stream"}
	switch c.dialect {
	case "ollama":
		r.typ = "application/x-ndjson"
	case "bedrock":
		r.typ = "application/vnd.amazon.eventstream"
	}
	ids := 0
	s := wire.Service{Ref: model.Ref{Provider: c.dialect}, BaseURL: "http://model.test/v1", HTTP: &http.Client{Transport: r},
		NewID: func() string { ids++; return fmt.Sprintf("made_%d", ids) }}
	switch c.dialect {
	case "anthropic":
		return anthropic.New(s, anthropic.Quirks{}), r
	case "responses":
		return responses.New(s, responses.Quirks{Reasons: true}), r
	case "gemini":
		return gemini.New(s, gemini.Quirks{}), r
	case "bedrock":
		return bedrock.New(s, bedrock.Quirks{}), r
	case "ollama":
		return ollama.New(s, ollama.Quirks{ContextWindow: 8192, KeepAlive: "15m"}), r
	default:
		return openai.New(s, openai.Quirks{ReasoningBack: strings.Contains(c.path, "reasoning-back")}), r
	}
}

// response is what the service answers. Bedrock's is written as lines of the
// name of an event and its payload; "!name payload" is an exception.
func (c cassette) response() string {
	raw := c.section("response")
	if c.dialect != "bedrock" {
		return raw
	}
	var out strings.Builder
	for line := range strings.Lines(raw) {
		name, payload, _ := strings.Cut(strings.TrimSpace(line), " ")
		kind := "event"
		if exception, ok := strings.CutPrefix(name, "!"); ok {
			kind, name = "exception", exception
		}
		out.WriteString(scripted.Frame(kind, name, payload))
	}
	return out.String()
}

// events plays the answer and writes down what comes of it.
func (c cassette) events(t testing.TB, body io.Reader) (events string, sent []byte) {
	p, r := c.provider(body)
	var b strings.Builder
	for ev, err := range p.Stream(t.Context(), c.request(t)) {
		switch {
		case err != nil:
			var e *model.Error
			if !errors.As(err, &e) {
				t.Fatalf("%s: %v is no model error", c.path, err)
			}
			fmt.Fprintf(&b, "error %s %s\n", e.Class, e.Detail)
		case ev.Kind == model.EventText:
			fmt.Fprintf(&b, "text %q\n", ev.Text)
		case ev.Kind == model.EventThinking && ev.Signature != "":
			fmt.Fprintf(&b, "signature %s\n", ev.Signature)
		case ev.Kind == model.EventThinking:
			fmt.Fprintf(&b, "thinking %q\n", ev.Text)
		case ev.Kind == model.EventToolCall:
			fmt.Fprintf(&b, "call %s %s %s\n", ev.Call.ID, ev.Call.Name, ev.Call.Arguments)
		case ev.Kind == model.EventUsage:
			fmt.Fprintf(&b, "usage %+v\n", ev.Usage)
		case ev.Kind == model.EventStop:
			fmt.Fprintf(&b, "stop %s\n", ev.Stop)
		}
	}
	return b.String(), r.sent
}

func TestCassettes(t *testing.T) {
	for _, c := range cassettes(t) {
		t.Run(c.path, func(t *testing.T) {
			response := c.response()
			events, sent := c.events(t, strings.NewReader(response))
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, bytes.TrimSpace(sent), "", "  "); err != nil {
				t.Fatal(err)
			}
			pretty.WriteByte('\n')
			if *update {
				c.set("sent", pretty.String())
				c.set("events", events)
				if err := os.WriteFile(c.path, []byte(c.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(c.section("sent"), pretty.String()); diff != "" {
				t.Errorf("sent (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.section("events"), events); diff != "" {
				t.Errorf("events (-want +got)\n%s", diff)
			}
			for name, body := range map[string]io.Reader{
				"byte by byte": iotest.OneByteReader(strings.NewReader(response)),
				"CRLF":         strings.NewReader(strings.ReplaceAll(response, "\n", "\r\n")),
				"CR":           strings.NewReader(strings.ReplaceAll(response, "\n", "\r")),
				"BOM":          strings.NewReader("\xef\xbb\xbf" + response),
			} {
				if c.dialect == "bedrock" && name != "byte by byte" {
					continue // it has no lines
				}
				if got, _ := c.events(t, body); got != events {
					t.Errorf("%s: (-want +got)\n%s", name, cmp.Diff(events, got))
				}
			}
		})
	}
}

// A stream that is cut at any byte keeps the words that came before, never
// gives out a tool call that the whole stream does not have, and ends as an
// interruption, as empty, or (when only the goodbye is missing) well.
func TestFault_F_PROV_11_cut_at_every_byte(t *testing.T) {
	for _, c := range cassettes(t) {
		response := c.response()
		whole := tell(c.section("events"))
		for n := range len(response) {
			var body io.Reader = strings.NewReader(response[:n])
			if n%2 == 1 { // a reset instead of a close
				body = io.MultiReader(body, iotest.ErrReader(io.ErrUnexpectedEOF))
			}
			events, _ := c.events(t, body)
			part := tell(events)
			if !strings.HasPrefix(whole.text, part.text) || !strings.HasPrefix(whole.calls, part.calls) {
				t.Fatalf("%s at %d: got %q, %q", c.path, n, part.text, part.calls)
			}
			if part.end != whole.end && part.end != "interrupted" && part.end != "empty" {
				t.Fatalf("%s at %d: ended as %q", c.path, n, part.end)
			}
		}
	}
}

type told struct{ text, calls, end string }

func tell(events string) (o told) {
	for line := range strings.Lines(events) {
		kind, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		switch kind {
		case "text":
			var s string
			fmt.Sscanf(rest, "%q", &s)
			o.text += s
		case "call":
			o.calls += rest + "\n"
		case "stop":
			o.end = "stop"
		case "error":
			o.end, _, _ = strings.Cut(rest, " ")
		}
	}
	return o
}

// FuzzDialects: whatever a service sends, a stream keeps its promises.
func FuzzDialects(f *testing.F) {
	for _, c := range cassettes(f) {
		f.Add(c.dialect, c.response())
	}
	f.Add("openai", "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1},{\"index\":99999999}]}}]}\n\ndata: [DONE]\n\n")
	f.Fuzz(func(t *testing.T, dialect, body string) {
		c := cassette{path: "fuzz", dialect: dialect}
		p, _ := c.provider(strings.NewReader(body))
		ends := 0
		for ev, err := range p.Stream(t.Context(),
			model.Request{Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: "x"}}}}}) {
			if ends > 0 {
				t.Fatal("an event after the end")
			}
			if err != nil || ev.Kind == model.EventStop {
				ends++
			}
			if ev.Kind == model.EventToolCall && !json.Valid(ev.Call.Arguments) {
				t.Fatalf("arguments %q", ev.Call.Arguments)
			}
		}
		if ends != 1 {
			t.Fatal("no end")
		}
	})
}
