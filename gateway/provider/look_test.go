package provider_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/provider"
)

// speaks is a server that answers some paths with JSON.
func speaks(t *testing.T, key string, answers map[string]string) *httptest.Server {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key != "" && r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, ok := answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body)
	}))
	t.Cleanup(srv.Close)
	return srv
}

const vllm = `{"object":"list","data":[{"id":"Qwen/Qwen3-8B","object":"model","owned_by":"vllm","max_model_len":32768},
	{"id":"BAAI/bge-m3","object":"model","owned_by":"vllm"}]}`

func TestLook(t *testing.T) {
	v1 := map[string]string{"/v1/models": vllm}
	for name, c := range map[string]struct {
		answers   map[string]string
		key, at   string // the key that it wants, and what is typed behind its address
		api, kind string
		base      string
		models    int
		window    int
		sees      bool
	}{
		"vLLM":                 {answers: v1, kind: "vllm", base: "/v1", models: 1, window: 32768},
		"with the version":     {answers: v1, at: "/v1/", kind: "vllm", base: "/v1", models: 1, window: 32768},
		"a function's address": {answers: v1, at: "/v1/chat/completions", kind: "vllm", base: "/v1", models: 1, window: 32768},
		"with a key":           {answers: v1, key: "sk-right", kind: "vllm", base: "/v1", models: 1, window: 32768},
		"a version of its own": {answers: map[string]string{
			"/api/paas/v4/models": `{"object":"list","data":[{"id":"glm"}]}`},
			at: "/api/paas/v4", base: "/api/paas/v4", models: 1},
		"OpenRouter's list": {answers: map[string]string{
			"/api/v1/models": `{"data":[{"id":"a/b","context_length":8000,"architecture":{"input_modalities":["text","image"]}}]}`},
			at: "/api", base: "/api/v1", models: 1, window: 8000, sees: true},
		"LM Studio": {answers: map[string]string{
			"/v1/models":     `{"object":"list","data":[{"id":"qwen-vl","object":"model","owned_by":"organization_owner"}]}`,
			"/api/v0/models": `{"data":[{"id":"qwen-vl","type":"vlm","max_context_length":131072,"loaded_context_length":16384}]}`},
			kind: "lmstudio", base: "/v1", models: 1, window: 16384, sees: true},
		"LiteLLM": {answers: map[string]string{
			"/v1/models":  `{"object":"list","data":[{"id":"gpt","object":"model","owned_by":"openai"}]}`,
			"/model/info": `{"data":[{"model_name":"gpt","model_info":{"max_input_tokens":128000,"supports_vision":true}}]}`},
			base: "/v1", models: 1, window: 128000, sees: true},
		"Ollama": {answers: map[string]string{
			"/api/tags": `{"models":[{"name":"llava:7b"}]}`, "/api/version": `{"version":"0.17.4"}`,
			"/api/show": `{"capabilities":["completion","vision"],"model_info":{"llama.context_length":32768}}`},
			api: provider.APIOllama, kind: "ollama", models: 1, sees: true},
	} {
		t.Run(name, func(t *testing.T) {
			srv := speaks(t, c.key, c.answers)
			s, err := provider.New(provider.Options{HTTP: srv.Client()}).Look(t.Context(), srv.URL+c.at, c.key)
			if err != nil {
				t.Fatal(err)
			}
			if c.api == "" {
				c.api = provider.APIOpenAI
			}
			if s.Address != srv.URL+c.base || s.API != c.api || s.Kind != c.kind || len(s.Models) != c.models {
				t.Fatalf("found %+v", s)
			}
			if m := s.Models[0]; m.ContextWindow != c.window || strings.Contains(strings.Join(m.Input, " "), "image") != c.sees {
				t.Errorf("the model is %+v", m)
			}
		})
	}
}

// Each way in which an address is of no use has its own words.
func TestLookSaysWhy(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello</html>") }))
	defer page.Close()
	moved := httptest.NewServer(http.RedirectHandler("https://elsewhere.example/", http.StatusFound))
	defer moved.Close()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer broken.Close()
	strange := httptest.NewTLSServer(http.NotFoundHandler())
	defer strange.Close()
	locked := speaks(t, "sk-right", map[string]string{"/v1/models": vllm})
	empty := speaks(t, "", map[string]string{"/v1/models": `{"object":"list","data":[]}`})
	other := speaks(t, "", map[string]string{"/v1/models": `{"data":{"a":1}}`, "/models": `[1,2]`})
	ssh, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ssh.Close()
	go func() {
		for {
			c, err := ssh.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, "SSH-2.0-OpenSSH_9.9\r\n")
			c.Close()
		}
	}()
	quiet, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	absent := quiet.Addr().String()
	quiet.Close()
	for name, c := range map[string]struct{ address, key, want string }{
		"nothing":         {"  ", "", provider.LookAddress},
		"words":           {"my server", "", provider.LookAddress},
		"another scheme":  {"file:///etc/passwd", "", provider.LookAddress},
		"a password":      {"http://anna:secret@localhost:8000", "", provider.LookAddress},
		"nobody":          {absent, "", provider.LookAbsent},
		"ssh":             {ssh.Addr().String(), "sk-ssh", provider.LookPlain},
		"https without":   {"https://" + absent, "", provider.LookAbsent},
		"http only":       {strings.Replace(page.URL, "http:", "https:", 1), "", provider.LookPlain},
		"no certificate":  {strange.URL, "", provider.LookCert},
		"a page":          {page.URL, "", provider.LookOther},
		"other JSON":      {other.URL, "", provider.LookOther},
		"moved":           {moved.URL, "", provider.LookMoved},
		"broken":          {broken.URL, "", provider.LookFailed},
		"without its key": {locked.URL, "", provider.LookKey},
		"a wrong key":     {locked.URL, "sk-wrong", provider.LookKey},
		"no models":       {empty.URL, "", provider.LookEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := provider.New(provider.Options{}).Look(t.Context(), c.address, c.key)
			var why *provider.LookError
			if !errors.As(err, &why) || why.Code != c.want {
				t.Fatalf("said %v, want %s", err, c.want)
			}
			if strings.Contains(why.Message, "secret") || c.key != "" && strings.Contains(why.Message, c.key+" ") {
				t.Errorf("%q shows a secret", why.Message)
			}
		})
	}
}

// What a server says of its models is read without trust.
func FuzzServedModels(f *testing.F) {
	for _, s := range []string{vllm, `{"data":[{"id":"a","max_model_len":"32768"}]}`, `{"data":[{"id":"a","max_model_len":-1},{"id":"a"}]}`,
		`{"object":"list","data":[null,1,"x",{"id":"\u0000"},{"id":""}]}`, `{"data":null}`, `[]`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		models, ok := provider.ServedModels(body)
		seen := map[string]bool{}
		for _, m := range models {
			if !ok || m.ID == "" || len(m.ID) > 256 || m.ContextWindow < 0 || seen[m.ID] || strings.ContainsAny(m.ID, " \n\x00") {
				t.Fatalf("took %+v of %q", m, body)
			}
			seen[m.ID] = true
		}
	})
}

// What only a person knows is asked for by name.
func TestWhatServicesNeed(t *testing.T) {
	want := map[string]string{
		"openai": "https://api.openai.com/v1", "azure-openai": "{AZURE_OPENAI_ENDPOINT}",
		"bedrock":               "https://bedrock-runtime.{AWS_REGION}.amazonaws.com",
		"cloudflare-ai-gateway": "https://gateway.ai.cloudflare.com/v1/{CLOUDFLARE_ACCOUNT_ID}/{CLOUDFLARE_GATEWAY_ID}/compat",
	}
	for _, s := range provider.KnownServices() {
		if w, ok := want[s.ID]; ok && (s.Address != w || strings.Count(w, "{") != len(s.Needs)) {
			t.Errorf("%+v", s)
		}
		if s.Name == "" || s.Deployment != (s.ID == "azure-openai") {
			t.Errorf("%+v", s)
		}
		delete(want, s.ID)
	}
	if len(want) > 0 {
		t.Errorf("not known: %v", want)
	}
}
