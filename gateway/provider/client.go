package provider

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider/anthropic"
	"github.com/hearth-assistant/hearth/gateway/provider/bedrock"
	"github.com/hearth-assistant/hearth/gateway/provider/gemini"
	"github.com/hearth-assistant/hearth/gateway/provider/ollama"
	"github.com/hearth-assistant/hearth/gateway/provider/openai"
	"github.com/hearth-assistant/hearth/gateway/provider/responses"
	"github.com/hearth-assistant/hearth/gateway/provider/wire"
)

// keepLoaded is how long a local model stays in memory after an answer: long
// enough for the pause in which a person reads and writes.
const keepLoaded = "15m"

// provider builds the client of one model.
func (v view) provider(x reach, m ModelConfig) model.Provider {
	s := wire.Service{
		Ref: model.Ref{Provider: x.id, Model: m.ID}, BaseURL: x.baseURL, HTTP: v.r.http, Now: v.r.now,
		Key: func() string { return x.key }, FirstByte: v.r.firstByte, Idle: v.r.idle, Debug: v.r.debug, Stable: &v.r.stable,
	}
	if x.silence > 0 {
		s.FirstByte, s.Idle = x.silence, x.silence
	}
	if s.FirstByte == 0 && onThisComputer(x.baseURL) {
		s.FirstByte = localFirstByte
	}
	s.Prepare = v.prepare(x, m.ID, s.Key)
	switch x.api {
	case APIAnthropic:
		return anthropic.New(s, anthropic.Quirks{MaxTokens: m.MaxTokens})
	case APIOllama:
		return ollama.New(s, ollama.Quirks{ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens, KeepAlive: keepLoaded,
			Window: v.verifying(s.Ref)})
	case APIResponses:
		return responses.New(s, responses.Quirks{MaxTokens: m.MaxTokens, Reasons: m.Reasoning})
	case APIGoogle:
		return gemini.New(s, gemini.Quirks{MaxTokens: m.MaxTokens})
	case APIBedrock:
		return bedrock.New(s, bedrock.Quirks{MaxTokens: m.MaxTokens})
	default:
		return openai.New(s, openai.Quirks{MaxTokens: m.MaxTokens, MaxCompletionTokens: x.quirks.maxCompletionTokens,
			NoStreamUsage: x.quirks.noStreamUsage, ReasoningBack: x.quirks.reasoningBack,
			NoNamedTool: x.quirks.noNamedTool, NoSchema: x.quirks.noSchema, NoObject: x.quirks.noObject, FormatOrTools: x.quirks.formatOrTools})
	}
}

// verifying is what takes the window that a local server gave a model, nil when
// that is known.
func (v view) verifying(ref model.Ref) func(string, int) {
	if v.r.windowOf(ref) > 0 {
		return nil
	}
	return func(_ string, tokens int) { v.r.windowGiven(ref, tokens) }
}

// windowOf is how many tokens of context a model has: as configured or known;
// with Ollama as the model's own file asks for, but never more than the model was
// made for, or than the server gave it.
func (v view) windowOf(x *reach, m ModelConfig) int {
	n := m.ContextWindow
	if n == 0 {
		n = x.asked[canonical(m.ID)]
	}
	if t, ok := v.tested(x, m.ID); ok && t.Limit > 0 && t.Window > 0 && (n == 0 || t.Window < n) {
		n = t.Window // a test has seen more than that being cut
	}
	if x.api != APIOllama {
		return n
	}
	if n == 0 {
		n = ollamaWindow
	}
	for _, most := range []int{x.trained[canonical(m.ID)], v.r.windowOf(model.Ref{Provider: x.id, Model: m.ID})} {
		if most > 0 {
			n = min(n, most)
		}
	}
	return n
}

// prepare has the last word on a request: the key goes where this service wants
// it, headers of the person's own are added, and what must be signed is signed.
func (v view) prepare(x reach, id string, key func() string) func(*http.Request, []byte) error {
	var steps []func(*http.Request, []byte) error
	if where := x.keyHeader(); where != "" {
		steps = append(steps, func(r *http.Request, _ []byte) error { moveKey(r.Header, where, key()); return nil })
	}
	if x.quirks.shape == azureShape {
		version := firstOf("AZURE_OPENAI_API_VERSION|OPENAI_API_VERSION|=2024-10-21", v.r.env)
		steps = append(steps, func(r *http.Request, _ []byte) error { deployment(r.URL, id, version); return nil })
	}
	if len(x.headers) > 0 {
		steps = append(steps, v.addHeaders(x.headers))
	}
	switch {
	case x.api == APIBedrock && !x.bearer:
		steps = append(steps, bedrock.Signer{Key: key, Now: v.r.now}.Prepare)
	case x.quirks.shape == copilotShape:
		steps = append(steps, v.r.copilot.Prepare(key))
	}
	if len(steps) == 0 {
		return nil
	}
	return func(r *http.Request, body []byte) error {
		for _, step := range steps {
			if err := step(r, body); err != nil {
				return err
			}
		}
		return nil
	}
}

// keyHeader is where the key goes when not where the dialect puts it.
func (x *reach) keyHeader() string {
	if x.bearer {
		return "Authorization"
	}
	return x.header
}

func moveKey(h http.Header, where, key string) {
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		h.Del(name)
	}
	key = strings.TrimSpace(key)
	if key == "" {
		return
	}
	if where == "Authorization" || where == "Cf-Aig-Authorization" {
		key = "Bearer " + key
	}
	h.Set(where, key)
}

// addHeaders adds what a person configured. What frames the request is ours.
func (v view) addHeaders(headers map[string]string) func(*http.Request, []byte) error {
	return func(r *http.Request, _ []byte) error {
		for name, value := range headers {
			switch http.CanonicalHeaderKey(name) {
			case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Content-Type", "Accept-Encoding":
				continue
			}
			value, missing := expand(value, v.r.env)
			if missing != "" {
				return &model.Error{Class: model.ClassAuth, Detail: "the header " + name + " is set to ${" + missing + "}, but the environment " +
					"variable " + missing + " is empty"}
			}
			r.Header.Set(name, value)
		}
		return nil
	}
}

// deployment is Azure's shape of an address: the model is a deployment in the
// path. Its newer addresses, which end with /openai/v1, are like OpenAI's.
func deployment(u *url.URL, id, version string) {
	base, rest, ok := strings.Cut(u.Path, "/chat/completions")
	if !ok || strings.HasSuffix(base, "/openai/v1") {
		return
	}
	if !strings.Contains(base, "/deployments/") {
		base = strings.TrimSuffix(base, "/openai") + "/openai/deployments/" + id
	}
	u.Path, u.RawPath = base+"/chat/completions"+rest, ""
	q := u.Query()
	if q.Get("api-version") == "" {
		q.Set("api-version", version)
	}
	u.RawQuery = q.Encode()
}

// canSee reports whether a model takes pictures: as configured or found, or as
// the service's models do.
func (x *reach) canSee(m ModelConfig) bool {
	if len(m.Input) > 0 {
		return slices.Contains(m.Input, "image")
	}
	return x.sees
}
