package provider_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/guide"
)

// machine answers for the addresses of a computer; nothing else is reachable.
type machine struct {
	mu     sync.Mutex
	hosts  map[string]http.Handler
	asked  []string
	keys   []string
	silent map[string]bool // addresses that never answer
}

func newMachine() *machine {
	return &machine{hosts: map[string]http.Handler{}, silent: map[string]bool{}}
}

func (m *machine) set(host string, h http.Handler) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hosts[host] = h
}

func (m *machine) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	h, silent := m.hosts[r.URL.Host], m.silent[r.URL.Host]
	m.asked = append(m.asked, r.Method+" "+r.URL.String())
	if a := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key"); a != "" {
		m.keys = append(m.keys, r.URL.Host+" "+a)
	}
	m.mu.Unlock()
	if silent {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if h == nil {
		return nil, errors.New("connection refused")
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

func (m *machine) client() *http.Client { return &http.Client{Transport: m} }

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func answering(typ, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", typ)
		io.WriteString(w, body)
	})
}

// ollamaWith is an Ollama that has these models; those that begin with "chat"
// cannot use tools.
func ollamaWith(names ...string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/tags", func(w http.ResponseWriter, r *http.Request) {
		list := make([]string, len(names))
		for i, n := range names {
			away := ""
			if strings.HasSuffix(n, "cloud") {
				away = `,"remote_host":"https://ollama.com:443"`
			}
			list[i] = `{"name":"` + n + `","model":"` + n + `"` + away + `}`
		}
		answering("application/json; charset=utf-8", `{"models":[`+strings.Join(list, ",")+`]}`).ServeHTTP(w, r)
	})
	mux.HandleFunc("/api/show", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		can := `"completion","tools"`
		if strings.Contains(string(body), `"chat`) {
			can = `"completion"`
		}
		answering("application/json", `{"capabilities":[`+can+`]}`).ServeHTTP(w, r)
	})
	return mux
}

const lmStudioList = `{"data":[{"id":"text-embedding-nomic","object":"model"},{"id":"qwen/qwen3-8b","object":"model","owned_by":"x"}],"object":"list"}`

// accounts were added for these services.
type accounts []string

func (a accounts) Has(id string) bool           { return slices.Contains(a, id) }
func (a accounts) Chosen(id string) bool        { return slices.Contains(a, id) }
func (a accounts) Next(id, model string) string { return id + ":default" }
func (a accounts) Key(context.Context, string, string) (string, error) {
	return "k", nil
}

func TestDefault(t *testing.T) {
	const ollamaHost, lmHost, llamaHost, janHost = "127.0.0.1:11434", "127.0.0.1:1234", "127.0.0.1:8080", "127.0.0.1:1337"
	lm := answering("application/json", lmStudioList)
	key := env("ANTHROPIC_API_KEY", "k1", "OPENAI_API_KEY", "k2")
	custom := map[string]provider.ProviderConfig{
		"mine": {BaseURL: "https://example.com/v1", Models: []provider.ModelConfig{{ID: "m1", ContextWindow: 1000}}}}
	tests := []struct {
		name     string
		settings provider.Settings
		hosts    map[string]http.Handler
		env      func(string) string
		accounts provider.Accounts
		around   bool
		want     string
		source   string
	}{
		{name: "nothing", want: "guide/guide", source: "built-in"},
		{name: "key", env: key, want: "guide/guide", source: "built-in"},
		{name: "account", env: key, accounts: accounts{"openai"}, want: "openai/gpt-5-mini", source: "environment"},
		{name: "looking around", env: key, around: true, hosts: map[string]http.Handler{ollamaHost: ollamaWith("qwen3:8b")}, want: "guide/guide",
			source: "built-in"},
		{name: "looking around, with an account", accounts: accounts{"openai"}, around: true, hosts: map[string]http.Handler{
			ollamaHost: ollamaWith("qwen3:8b")}, want: "openai/gpt-5-mini", source: "environment"},
		{name: "looking around, configured", settings: provider.Settings{Primary: "openai/gpt-9"}, env: key, around: true, want: "openai/gpt-9",
			source: "configured"},
		{name: "Ollama's cloud is not this computer", hosts: map[string]http.Handler{ollamaHost: ollamaWith("big:cloud")}, want: "guide/guide",
			source: "built-in"},
		{name: "here before the cloud", hosts: map[string]http.Handler{ollamaHost: ollamaWith("big:cloud", "chatty:1b")},
			want: "ollama/chatty:1b", source: "local"},
		{name: "ollama before key", hosts: map[string]http.Handler{ollamaHost: ollamaWith("qwen3:8b")}, env: key, want: "ollama/qwen3:8b",
			source: "local"},
		{name: "the one with tools", hosts: map[string]http.Handler{ollamaHost: ollamaWith("nomic-embed-text", "chatty:1b", "qwen3:8b")},
			want: "ollama/qwen3:8b", source: "local"},
		{name: "without tools is better than none", hosts: map[string]http.Handler{ollamaHost: ollamaWith("chatty:1b")}, want: "ollama/chatty:1b",
			source: "local"},
		{name: "ollama without models", hosts: map[string]http.Handler{ollamaHost: ollamaWith()}, env: key, want: "guide/guide",
			source: "built-in"},
		{name: "lm studio", hosts: map[string]http.Handler{lmHost: lm}, want: "lmstudio/qwen/qwen3-8b", source: "local"},
		{name: "llama.cpp", hosts: map[string]http.Handler{
			llamaHost: answering("application/json", `{"object":"list","data":[{"id":"/models/q.gguf","object":"model"}]}`)},
			want: "llamacpp//models/q.gguf", source: "local"},
		{name: "jan wants a key", hosts: map[string]http.Handler{
			janHost: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(401) })}, want: "guide/guide",
			source: "built-in"},
		{name: "something else on 8080", hosts: map[string]http.Handler{llamaHost: answering("text/html", "<html>my app</html>")},
			want: "guide/guide", source: "built-in"},
		{name: "other JSON on 8080", hosts: map[string]http.Handler{llamaHost: answering("application/json", `{"status":"ok"}`)},
			want: "guide/guide", source: "built-in"},
		{name: "other list on 8080", hosts: map[string]http.Handler{llamaHost: answering("application/json", `{"data":[{"id":"user-1"}]}`)},
			want: "guide/guide", source: "built-in"},
		{name: "typed list on 8080", hosts: map[string]http.Handler{
			llamaHost: answering("application/json", `{"data":[{"id":7,"object":"model"}]}`)}, want: "guide/guide", source: "built-in"},
		{name: "configured", settings: provider.Settings{Primary: "openai/gpt-9"}, hosts: map[string]http.Handler{
			ollamaHost: ollamaWith("qwen3:8b")}, env: key, want: "openai/gpt-9", source: "configured"},
		{name: "configured without provider", settings: provider.Settings{Primary: "qwen3:8b"}, hosts: map[string]http.Handler{
			ollamaHost: ollamaWith("qwen3:8b")}, want: "ollama/qwen3:8b", source: "configured"},
		{name: "configured service", settings: provider.Settings{Providers: custom}, hosts: map[string]http.Handler{
			ollamaHost: ollamaWith("qwen3:8b")}, env: key, want: "mine/m1", source: "configured"},
		{name: "OLLAMA_HOST", hosts: map[string]http.Handler{"127.0.0.1:5555": ollamaWith("far:1b")}, env: env("OLLAMA_HOST", "0.0.0.0:5555"),
			want: "ollama/far:1b", source: "local"},
		{name: "configured ollama address", settings: provider.Settings{Providers: map[string]provider.ProviderConfig{
			"ollama": {BaseURL: "http://127.0.0.1:5555/v1"}}}, hosts: map[string]http.Handler{"127.0.0.1:5555": ollamaWith("far:1b")},
			want: "ollama/far:1b", source: "configured"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine()
			for host, h := range tt.hosts {
				m.set(host, h)
			}
			r := provider.New(provider.Options{Settings: tt.settings, HTTP: m.client(), Env: tt.env, Accounts: tt.accounts,
				Around: func() bool { return tt.around }})
			r.Detect(t.Context())
			ref, source := r.Default()
			if ref.String() != tt.want || source != tt.source {
				t.Errorf("got %s from %s, want %s from %s", ref, source, tt.want, tt.source)
			}
			c, err := r.Resolve(t.Context(), model.Ref{})
			if err != nil || c.Ref != ref || c.Source != source || c.Provider == nil || c.BuiltIn != (ref == guide.Ref()) {
				t.Errorf("resolve gave %+v, %v", c, err)
			}
			if len(m.keys) > 0 {
				t.Errorf("detection sent keys: %v", m.keys)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	m := newMachine()
	m.set("127.0.0.1:11434", ollamaWith("qwen3:8b", "llama3.2:latest"))
	r := provider.New(provider.Options{HTTP: m.client(), Env: env("GROQ_API_KEY", "k"), Settings: provider.Settings{
		Providers: map[string]provider.ProviderConfig{
			"mine":    {BaseURL: "https://example.com/v1", Models: []provider.ModelConfig{{ID: "m1"}, {ID: "m2"}}},
			"nowhere": {},
			"odd":     {BaseURL: "https://example.com/v1", API: "telepathy"},
			"openai":  {APIKey: "${MY_KEY}"},
		}}})
	r.Detect(t.Context())
	tests := []struct {
		ref   string
		class model.Class
		words []string
	}{
		{"nobody/x", model.ClassNoModel, []string{`no provider called "nobody"`, "ollama", "groq", "mine", "guide", "hearth.json"}},
		{"mine/m3", model.ClassNoModel, []string{`no model called "m3"`, "m1, m2"}},
		{"ollama/qwen9", model.ClassNoModel, []string{"qwen3:8b, llama3.2:latest", "`ollama pull qwen9`"}},
		{"lmstudio/x", model.ClassConnect, []string{"LM Studio is not running", "http://127.0.0.1:1234/v1", "Start"}},
		{"anthropic/claude", model.ClassAuth, []string{"Anthropic needs an API key", "console.anthropic.com", "ANTHROPIC_API_KEY",
			"`hearth models auth add anthropic`"}},
		{"openai/gpt-5", model.ClassAuth, []string{"${MY_KEY}", "MY_KEY is empty", "models.providers.openai.apiKey"}},
		{"nowhere/x", model.ClassInvalid, []string{"models.providers.nowhere.baseUrl"}},
		{"odd/x", model.ClassInvalid, []string{"telepathy", "openai-completions, openai-responses, anthropic-messages"}},
	}
	for _, tt := range tests {
		t.Run(tt.ref, func(t *testing.T) {
			ref, _ := model.ParseRef(tt.ref)
			_, err := r.Resolve(t.Context(), ref)
			var u *provider.UnavailableError
			if !errors.As(err, &u) || u.Class != tt.class {
				t.Fatalf("got %#v", err)
			}
			for _, w := range tt.words {
				if !strings.Contains(u.Message, w) {
					t.Errorf("%q does not say %q", u.Message, w)
				}
			}
			if msg, kind := provider.Explain(err, ref); msg != u.Message || kind != provider.KindUnknown {
				t.Errorf("explained as %q, %q", msg, kind)
			}
		})
	}
	if c, err := r.Resolve(t.Context(), model.Ref{Provider: "ollama", Model: "qwen3:8b"}); err != nil || c.ContextWindow != 8192 {
		t.Errorf("got %+v, %v", c, err)
	}
	for _, good := range []string{"ollama/llama3.2", "groq/anything", "mine/m2", "guide/guide"} {
		ref, _ := model.ParseRef(good)
		if _, err := r.Resolve(t.Context(), ref); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	if _, err := r.Resolve(t.Context(), model.Ref{Model: "x"}); err == nil || !strings.Contains(err.Error(), "provider/model") {
		t.Errorf("got %v", err)
	}
}

func TestModels(t *testing.T) {
	m := newMachine()
	m.set("127.0.0.1:11434", ollamaWith("chatty:1b", "qwen3:8b"))
	r := provider.New(provider.Options{HTTP: m.client(), Env: env("XAI_API_KEY", "k"), Settings: provider.Settings{
		Primary: "xai/grok-5",
		Providers: map[string]provider.ProviderConfig{
			"mine": {BaseURL: "https://example.com/v1", Models: []provider.ModelConfig{
				{ID: "m1", Name: "Mine", ContextWindow: 1000, Reasoning: true}}},
			"anthropic": {},
		}}})
	r.Detect(t.Context())
	var got []string
	for _, e := range r.Models() {
		s := e.Ref.String() + " " + e.Source
		if !e.Available {
			s += " unavailable"
			if e.Reason == "" {
				t.Errorf("%s has no reason", s)
			}
		}
		if !e.Tools {
			s += " no tools"
		}
		got = append(got, s)
	}
	want := []string{
		"xai/grok-5 configured",
		"anthropic/claude-sonnet-4-5 configured unavailable", "anthropic/claude-opus-4-5 configured unavailable",
		"anthropic/claude-haiku-4-5 configured unavailable",
		"mine/m1 configured",
		"ollama/chatty:1b local no tools", "ollama/qwen3:8b local",
		"xai/grok-4 environment",
		"guide/guide built-in",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestResolveWaitsForDetection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine()
		m.set("127.0.0.1:11434", ollamaWith("qwen3:8b"))
		r := provider.New(provider.Options{HTTP: m.client(), Env: env("OPENAI_API_KEY", "k")})
		got := make(chan string)
		go func() {
			c, err := r.Resolve(t.Context(), model.Ref{})
			if err != nil {
				t.Error(err)
			}
			got <- c.Ref.String()
		}()
		synctest.Wait()
		select {
		case s := <-got:
			t.Fatalf("resolved to %s before the detection", s)
		default:
		}
		// A configured model and the guide need no detection.
		r.Reconfigure(provider.Settings{Providers: map[string]provider.ProviderConfig{"mine": {BaseURL: "https://example.com"}}})
		if c, err := r.Resolve(t.Context(), model.Ref{Provider: "mine", Model: "x"}); err != nil || c.Ref.Model != "x" {
			t.Errorf("got %+v, %v", c, err)
		}
		if c, err := r.Resolve(t.Context(), guide.Ref()); err != nil || !c.BuiltIn {
			t.Errorf("got %+v, %v", c, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Resolve(ctx, model.Ref{}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		r.Detect(t.Context())
		if s := <-got; s != "ollama/qwen3:8b" {
			t.Errorf("resolved to %s", s)
		}
	})
}

// Servers that accept and say nothing cost 0.8 s, all together, and hide
// nothing that did answer.
func TestDetectionHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine()
		for _, host := range []string{"127.0.0.1:11434", "127.0.0.1:8080", "127.0.0.1:1337"} {
			m.silent[host] = true
		}
		m.set("127.0.0.1:1234", answering("application/json", lmStudioList))
		r := provider.New(provider.Options{HTTP: m.client()})
		start := time.Now()
		r.Detect(t.Context())
		if took := time.Since(start); took > 800*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if ref, _ := r.Default(); ref.String() != "lmstudio/qwen/qwen3-8b" {
			t.Errorf("got %s", ref)
		}
	})
}

// A server of this computer that the settings give only an address is asked what it has;
// models that it does not list can be named still. Others are not asked.
func TestASettingWithAnAddressOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine()
		m.set("127.0.0.1:9999", answering("application/json", lmStudioList))
		m.set("10.0.0.7:9999", answering("application/json", lmStudioList))
		r := provider.New(provider.Options{HTTP: m.client()})
		r.Reconfigure(provider.Settings{Providers: map[string]provider.ProviderConfig{
			"mine": {BaseURL: "http://127.0.0.1:9999/v1"}, "far": {BaseURL: "http://10.0.0.7:9999/v1"},
			"keyed": {BaseURL: "http://127.0.0.1:9999/v1", APIKey: "sk-1"},
		}})
		r.Detect(t.Context())
		listed := false
		for _, e := range r.Models() {
			listed = listed || e.Ref.String() == "mine/qwen/qwen3-8b"
			if e.Ref.Provider == "far" || e.Ref.Provider == "keyed" {
				t.Errorf("%s was asked", e.Ref)
			}
		}
		if !listed {
			t.Errorf("%+v", r.Models())
		}
		if c, err := r.Resolve(t.Context(), model.Ref{Provider: "mine", Model: "other"}); err != nil || c.Ref.Model != "other" {
			t.Errorf("%+v %v", c, err)
		}
	})
}

// A server that is started later is found with the next message, and gone
// again after it stopped; the settings may change at any time.
func TestChangesWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine()
		r := provider.New(provider.Options{HTTP: m.client()})
		r.Detect(t.Context())
		resolve := func() string {
			c, err := r.Resolve(t.Context(), model.Ref{})
			if err != nil {
				t.Fatal(err)
			}
			return c.Ref.String()
		}
		if got := resolve(); got != "guide/guide" {
			t.Errorf("got %s", got)
		}
		m.set("127.0.0.1:11434", ollamaWith("qwen3:8b"))
		asked := len(m.asked)
		if got := resolve(); got != "guide/guide" || len(m.asked) != asked {
			t.Errorf("looked again at once: %s", got)
		}
		wait(6 * time.Second)
		if got := resolve(); got != "ollama/qwen3:8b" {
			t.Errorf("got %s", got)
		}
		m.set("127.0.0.1:11434", nil)
		r.Detect(t.Context())
		if got := resolve(); got != "guide/guide" {
			t.Errorf("got %s", got)
		}
		r.Reconfigure(provider.Settings{Primary: "mine/m", Providers: map[string]provider.ProviderConfig{
			"mine": {BaseURL: "https://example.com"}}})
		if got := resolve(); got != "mine/m" {
			t.Errorf("got %s", got)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	m := newMachine()
	m.set("127.0.0.1:11434", ollamaWith("qwen3:8b"))
	r := provider.New(provider.Options{HTTP: m.client()})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { r.Detect(t.Context()) })
		wg.Go(func() { r.Reconfigure(provider.Settings{}) })
		wg.Go(func() { r.Models() })
		wg.Go(func() {
			if _, err := r.Resolve(t.Context(), model.Ref{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// The whole way: a configured service with a key from the environment.
func TestAskThroughRegistry(t *testing.T) {
	s := newServer(t)
	for _, api := range []string{"openai-completions", "anthropic-messages", "ollama"} {
		r := provider.New(provider.Options{HTTP: s.http, Env: env("MY_KEY", "key-of-"+api), Settings: provider.Settings{
			Primary: "test/echo",
			Providers: map[string]provider.ProviderConfig{"test": {BaseURL: s.url + "/v1", API: api, APIKey: "${MY_KEY}",
				Models: []provider.ModelConfig{{ID: "echo", ContextWindow: 4096}}}}}})
		c, err := r.Resolve(t.Context(), model.Ref{})
		if err != nil || c.ContextWindow != 4096 || !c.Tools || c.Source != provider.SourceConfigured {
			t.Fatalf("got %+v, %v", c, err)
		}
		if o := collect(t, t.Context(), c.Provider, ask(c.Ref.Model, "hello")); o.text != "echo: hello" || !s.SawKey("key-of-"+api) {
			t.Errorf("%s: got %+v", api, o)
		}
	}
}

// The table's own consistency.
func TestKnownServices(t *testing.T) {
	r := provider.New(provider.Options{HTTP: newMachine().client(), Env: func(name string) string {
		if strings.HasSuffix(name, "_KEY") || strings.HasSuffix(name, "_TOKEN") {
			return "k"
		}
		return ""
	}})
	r.Detect(t.Context())
	var ids []string
	for _, e := range r.Models() {
		if !slices.Contains(ids, e.Ref.Provider) {
			ids = append(ids, e.Ref.Provider)
		}
		if e.Name == "" || e.Service == "" || e.ContextWindow == 0 {
			t.Errorf("%+v is not complete", e)
		}
		if _, err := r.Resolve(t.Context(), e.Ref); err != nil {
			t.Errorf("%s: %v", e.Ref, err)
		}
	}
	for _, id := range strings.Fields("anthropic openai openrouter groq mistral deepseek xai together fireworks cerebras moonshot zai " +
		"minimax nvidia huggingface venice perplexity guide") {
		if !slices.Contains(ids, id) {
			t.Errorf("%s is missing", id)
		}
	}
}

func BenchmarkResolveDefault(b *testing.B) {
	r := provider.New(provider.Options{HTTP: newMachine().client(), Settings: provider.Settings{
		Primary: "test/m", Providers: map[string]provider.ProviderConfig{"test": {BaseURL: "http://127.0.0.1:1/v1"}}}})
	for b.Loop() {
		if _, err := r.Resolve(b.Context(), model.Ref{}); err != nil {
			b.Fatal(err)
		}
	}
}
