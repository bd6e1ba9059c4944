package provider_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/anthropic"
	"github.com/hearth-assistant/hearth/gateway/provider/bedrock"
	"github.com/hearth-assistant/hearth/gateway/provider/gemini"
	"github.com/hearth-assistant/hearth/gateway/provider/ollama"
	"github.com/hearth-assistant/hearth/gateway/provider/openai"
	"github.com/hearth-assistant/hearth/gateway/provider/responses"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// sent is what a provider really puts on the wire.
func sent(t *testing.T, dialect string, q openai.Quirks, reasons bool, req model.Request) map[string]any {
	t.Helper()
	var body []byte
	client := &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
		body, _ = io.ReadAll(r.Body)
		return nil, errors.New("not answered")
	})}
	s := wire.Service{Ref: model.Ref{Provider: "p", Model: req.Model}, BaseURL: "http://127.0.0.1:1", HTTP: client,
		Key: func() string { return testKey }, FirstByte: time.Second, Idle: time.Second}
	p := map[string]model.Provider{
		"openai": openai.New(s, q), "responses": responses.New(s, responses.Quirks{Reasons: reasons}),
		"anthropic": anthropic.New(s, anthropic.Quirks{}),
		"gemini":    gemini.New(s, gemini.Quirks{}), "ollama": ollama.New(s, ollama.Quirks{}), "bedrock": bedrock.New(s, bedrock.Quirks{}),
	}[dialect]
	for range p.Stream(t.Context(), req) { //nolint:revive // only the request counts
	}
	var out map[string]any
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatalf("%s: %v: %s", dialect, err, body)
	}
	return out
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func some[T any](v T) *T { return &v }

// only are the fields that are not in a request without options.
func only(with, without map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range with {
		if !reflect.DeepEqual(v, without[k]) {
			out[k] = v
		}
	}
	return out
}

func everything() *model.Options {
	return &model.Options{
		Temperature: some(1.5), TopP: some(0.5), PresencePenalty: some(0.25), FrequencyPenalty: some(-0.5), Seed: some(int64(7)),
		Stop: []string{"END", "\n"},
	}
}

// What tunes a model goes to each dialect in its own words, and what it has no
// word for stays out. Without options a request is what it was.
func TestOptionsOfPrograms(t *testing.T) {
	for _, c := range []struct{ dialect, model, want string }{
		{"openai", "m", `{"max_tokens":99,"temperature":1.5,"top_p":0.5,"presence_penalty":0.25,"frequency_penalty":-0.5,"seed":7,"stop":["END","\n"]}`},
		{"responses", "m", `{"max_output_tokens":99,"temperature":1.5,"top_p":0.5}`},
		{"anthropic", "claude-sonnet-4-5", `{"max_tokens":99,"temperature":1,"stop_sequences":["END"]}`},
		{"anthropic", "claude-opus-4-7", `{"max_tokens":99,"stop_sequences":["END"]}`},
		{"gemini", "gemini-2.5-pro",
			`{"generationConfig":{"maxOutputTokens":99,"temperature":1.5,"topP":0.5,"presencePenalty":0.25,"frequencyPenalty":-0.5,"seed":7,"stopSequences":["END","\n"]}}`},
		{"ollama", "m", `{"options":{"num_predict":99,"temperature":1.5,"top_p":0.5,"presence_penalty":0.25,"frequency_penalty":-0.5,"seed":7,"stop":["END","\n"]}}`},
		{"bedrock", "amazon.nova-pro-v1:0", `{"inferenceConfig":{"maxTokens":99,"temperature":1,"topP":0.5,"stopSequences":["END","\n"]}}`},
		{"bedrock", "anthropic.claude-sonnet-4-5", `{"inferenceConfig":{"maxTokens":99,"temperature":1,"stopSequences":["END","\n"]}}`},
	} {
		plain := ask(c.model, "hi")
		with := plain
		with.MaxTokens, with.Options = 99, everything()
		if got := only(sent(t, c.dialect, openai.Quirks{}, false, with), sent(t, c.dialect, openai.Quirks{}, false, plain)); !same(got, c.want) {
			t.Errorf("%s %s: %v", c.dialect, c.model, got)
		}
	}
	// OpenAI's reasoning models refuse what tunes others: it is left out.
	for _, c := range []struct{ dialect, want string }{{"openai", `{"seed":7}`}, {"responses", `{}`}} {
		plain := ask("gpt-5-mini", "hi")
		with := plain
		with.Options = everything()
		q := openai.Quirks{MaxCompletionTokens: true}
		if got := only(sent(t, c.dialect, q, true, with), sent(t, c.dialect, q, true, plain)); !same(got, c.want) {
			t.Errorf("%s: %v", c.dialect, got)
		}
	}
}

func same(got map[string]any, want string) bool {
	var w map[string]any
	return json.Unmarshal([]byte(want), &w) == nil && reflect.DeepEqual(got, w)
}

func TestForcedCallsOfPrograms(t *testing.T) {
	for _, c := range []struct{ dialect, model, required, named string }{
		{"openai", "m", `{"tool_choice":"required"}`, `{"tool_choice":{"type":"function","function":{"name":"look"}}}`},
		{"responses", "m", `{"tool_choice":"required"}`, `{"tool_choice":{"type":"function","name":"look"}}`},
		{"anthropic", "claude-sonnet-4-5", `{"tool_choice":{"type":"any"}}`, `{"tool_choice":{"type":"tool","name":"look"}}`},
		{"gemini", "gemini-2.5-pro", `{"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}`,
			`{"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["look"]}}}`},
		{"ollama", "m", `{}`, `{}`},
		{"bedrock", "us.anthropic.claude-sonnet-4-5", `{"any":{}}`, `{"tool":{"name":"look"}}`},
		{"bedrock", "mistral.mistral-large", `{"any":{}}`, `{"any":{}}`},
		{"bedrock", "meta.llama3", `{}`, `{}`},
	} {
		plain := ask(c.model, "hi")
		plain.Tools = []model.ToolSpec{{Name: "look", Description: "d", Schema: []byte(`{"type":"object"}`)}}
		base := sent(t, c.dialect, openai.Quirks{}, false, plain)
		for _, o := range []struct {
			named bool
			want  string
		}{{false, c.required}, {true, c.named}} {
			with := plain
			with.Options = &model.Options{Call: []string{"look"}, Named: o.named}
			got := only(sent(t, c.dialect, openai.Quirks{}, false, with), base)
			if c.dialect == "bedrock" {
				got, _ = got["toolConfig"].(map[string]any)
				if got, _ = got["toolChoice"].(map[string]any); got == nil {
					got = map[string]any{}
				}
			}
			delete(got, "options") // empty, as is the next
			delete(got, "generationConfig")
			if !same(got, o.want) {
				t.Errorf("%s %s named %t: %v", c.dialect, c.model, o.named, got)
			}
		}
	}
	// Anthropic refuses a forced call beside reasoning, and some servers know
	// words only.
	with := withTools(ask("claude-sonnet-4-5", "hi"))
	with.Thinking, with.Options = model.ThinkingLow, &model.Options{Call: []string{"session_status"}}
	if got := sent(t, "anthropic", openai.Quirks{}, false, with); got["thinking"] != nil || got["tool_choice"] == nil {
		t.Errorf("%v %v", got["thinking"], got["tool_choice"])
	}
	with.Options.Named = true
	if got := sent(t, "openai", openai.Quirks{NoNamedTool: true}, false, with); got["tool_choice"] != "required" {
		t.Errorf("%v", got["tool_choice"])
	}
}

func TestFormsOfAnswersForPrograms(t *testing.T) {
	object := &model.Format{}
	schema := &model.Format{Name: "city", Schema: json.RawMessage(`{"type":"object"}`), Strict: some(true)}
	bare := &model.Format{Schema: json.RawMessage(`{"type":"object"}`)}
	for _, c := range []struct {
		dialect string
		q       openai.Quirks
		tools   bool
		f       *model.Format
		want    string
	}{
		{"openai", openai.Quirks{}, true, object, `{"response_format":{"type":"json_object"}}`},
		{"openai", openai.Quirks{}, false, schema,
			`{"response_format":{"type":"json_schema","json_schema":{"name":"city","strict":true,"schema":{"type":"object"}}}}`},
		{"openai", openai.Quirks{}, false, bare,
			`{"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}}}`},
		{"openai", openai.Quirks{NoSchema: true}, false, schema, `{"response_format":{"type":"json_object"}}`},
		{"openai", openai.Quirks{NoObject: true}, false, object, `{}`},
		{"openai", openai.Quirks{FormatOrTools: true}, true, schema, `{}`},
		{"responses", openai.Quirks{}, true, object, `{"text":{"format":{"type":"json_object"}}}`},
		{"responses", openai.Quirks{}, true, schema,
			`{"text":{"format":{"type":"json_schema","name":"city","strict":true,"schema":{"type":"object"}}}}`},
		{"anthropic", openai.Quirks{}, false, schema, `{}`},
		{"gemini", openai.Quirks{}, false, schema,
			`{"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}}}`},
		{"gemini", openai.Quirks{}, true, schema, `{"generationConfig":{}}`},
		{"ollama", openai.Quirks{}, false, object, `{"format":"json","options":{}}`},
		{"ollama", openai.Quirks{}, false, schema, `{"format":{"type":"object"},"options":{}}`},
		{"ollama", openai.Quirks{}, true, schema, `{"options":{}}`},
		{"bedrock", openai.Quirks{}, false, schema, `{}`},
	} {
		plain := ask("m", "hi")
		if c.tools {
			plain = withTools(plain)
		}
		with := plain
		with.Options = &model.Options{Format: c.f}
		if got := only(sent(t, c.dialect, c.q, false, with), sent(t, c.dialect, c.q, false, plain)); !same(got, c.want) {
			t.Errorf("%s tools %t: %v, want %s", c.dialect, c.tools, got, c.want)
		}
	}
}
