package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/provider/guide"
	"github.com/hearth-assistant/hearth/gateway/provider/ollama"
)

const (
	detectBudget = 800 * time.Millisecond
	maxList      = 4 << 20
	maxShown     = 6 // models whose abilities are asked for
)

// finding is a local server that answered.
type finding struct {
	baseURL string
	models  []ModelConfig
	noTools []string       // canonical ids of models that cannot use tools
	away    []string       // canonical ids of models that the server has run elsewhere
	trained map[string]int // tokens of context that a model was made for, by canonical id
	asked   map[string]int // and those that its own file asks for
	version string         // of the server, where it says so
	err     string         // it runs, but cannot be used: why, and what to do
}

// Detect looks for model servers on this computer, all at once and within
// 0.8 s, and replaces what was known. Nothing secret is sent. It may be called
// at any time; calls that meet wait for each other.
func (r *Registry) Detect(ctx context.Context) {
	r.detecting.Lock()
	defer r.detecting.Unlock()
	defer r.readyOnce.Do(func() { close(r.ready) })
	before, _ := r.Default()
	ctx, cancel := context.WithTimeout(ctx, detectBudget)
	defer cancel()

	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		found = map[string]finding{}
	)
	for _, s := range r.nearby() {
		wg.Go(func() {
			if f, ok := r.probe(ctx, s, s.baseURL); ok {
				mu.Lock()
				found[s.id] = f
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	r.mu.Lock()
	r.found, r.looked = found, r.now()
	r.mu.Unlock()
	if after, source := r.Default(); after != before {
		r.log.Info("default model", slog.String("model", after.String()), slog.String("source", source))
	}
}

// nearby are the services that are looked for: those that run on computers like this one,
// and those that the settings place on this one without saying which models they have.
// One that has a key wants it, and none is sent when nobody asked for anything.
func (r *Registry) nearby() (out []service) {
	settings := r.view().settings
	for _, s := range r.table {
		if !s.probe {
			continue
		}
		if s.id == "ollama" {
			s.baseURL = ollamaAddress(r.env("OLLAMA_HOST"), s.baseURL)
		}
		if cfg := settings.Providers[s.id]; cfg.BaseURL != "" {
			s.baseURL = cfg.BaseURL
		}
		out = append(out, s)
	}
	for id, cfg := range settings.Providers {
		s, _ := r.row(id)
		open := cfg.APIKey == "" && len(cfg.Headers) == 0
		lists := len(cfg.Models)+len(s.models) > 0
		if s.probe || lists || !open || !onThisComputer(cfg.BaseURL) || cfg.API != "" && cfg.API != APIOpenAI {
			continue
		}
		out = append(out, service{id: id, name: cmp.Or(s.name, id), api: APIOpenAI, baseURL: cfg.BaseURL})
	}
	return out
}

// ollamaAddress reads OLLAMA_HOST the way Ollama does.
func ollamaAddress(host, otherwise string) string {
	host = strings.TrimSpace(host)
	if host == "" {
		return otherwise
	}
	scheme, rest, ok := strings.Cut(host, "://")
	if !ok {
		scheme, rest = "http", host
	}
	rest = strings.TrimRight(rest, "/")
	name, port, err := net.SplitHostPort(rest)
	if err != nil {
		name, port = strings.Trim(rest, "[]"), "11434"
		if ok {
			port = map[string]string{"http": "80", "https": "443"}[scheme]
		}
	}
	if name == "" || name == "0.0.0.0" || name == "::" {
		name = "127.0.0.1" // what it listens on, not where to ask
	}
	return scheme + "://" + net.JoinHostPort(name, port)
}

// probe asks one address; ok is false when no model server is there.
func (r *Registry) probe(ctx context.Context, s service, base string) (finding, bool) {
	base = strings.TrimRight(base, "/")
	if s.api == APIOllama {
		return r.probeOllama(ctx, strings.TrimSuffix(base, "/v1"))
	}
	status, body := r.ask(ctx, http.MethodGet, base+"/models", nil)
	switch {
	case status == http.StatusUnauthorized && s.id == "jan":
		return finding{baseURL: base, err: fmt.Sprintf("Jan is running but wants its API key. Start Hearth with %s set, or set "+
			"models.providers.jan.apiKey.", s.keyEnv[0])}, true
	case status != http.StatusOK:
		return finding{}, false
	}
	models, ok := modelList(body)
	if !ok {
		return finding{}, false
	}
	f := finding{baseURL: base, models: models}
	if len(models) == 0 {
		f.err = fmt.Sprintf("%s is running but has no model loaded. Load one there and try again.", s.name)
	}
	return f, true
}

// modelList reads the answer of /models; ok is false for anything else, since
// many programs that are no model servers listen on these ports.
func modelList(body []byte) (models []ModelConfig, ok bool) {
	var list struct {
		Object string `json:"object"`
		Data   *[]struct {
			ID     string `json:"id"`
			Object string `json:"object"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil || list.Data == nil {
		return nil, false
	}
	ok = list.Object == "list"
	for _, m := range *list.Data {
		ok = ok || m.Object == "model"
		if m.ID != "" && talks(m.ID) {
			models = append(models, ModelConfig{ID: m.ID, Name: displayName(m.ID)})
		}
	}
	return models, ok
}

// talks is false for models that only embed, rank, listen or draw.
func talks(id string) bool {
	id = strings.ToLower(id)
	for _, s := range []string{"embed", "bge-", "minilm", "rerank", "whisper", "-tts", "stable-diffusion"} {
		if strings.Contains(id, s) {
			return false
		}
	}
	return true
}

// displayName takes the folder and the file ending off: llama.cpp names a
// model by its path.
func displayName(id string) string {
	if strings.HasSuffix(id, ".gguf") {
		id = strings.TrimSuffix(id[strings.LastIndexAny(id, `/\`)+1:], ".gguf")
	}
	return id
}

func (r *Registry) probeOllama(ctx context.Context, base string) (finding, bool) {
	status, body := r.ask(ctx, http.MethodGet, base+"/api/tags", nil)
	var list struct {
		Models *[]struct {
			Name       string `json:"name"`
			RemoteHost string `json:"remote_host"` // of Ollama's own cloud models
		} `json:"models"`
	}
	if status != http.StatusOK || json.Unmarshal(body, &list) != nil || list.Models == nil {
		return finding{}, false
	}
	f := finding{baseURL: base}
	for _, m := range *list.Models {
		if m.Name != "" && talks(m.Name) {
			f.models = append(f.models, ModelConfig{ID: m.Name, Name: canonical(m.Name)})
			if m.RemoteHost != "" {
				f.away = append(f.away, canonical(m.Name))
			}
		}
	}
	if len(f.models) == 0 {
		f.err = "Ollama is running but has no model yet. Get one with `ollama pull qwen3:8b` (or `qwen3:4b` on a small computer) and try again."
		return f, true
	}
	r.showOllama(ctx, &f)
	return f, true
}

// showOllama asks what the first models can do. A model that cannot talk is
// taken off the list.
func (r *Registry) showOllama(ctx context.Context, f *finding) {
	infos := make([]ollama.Info, min(len(f.models), maxShown))
	server := ollama.Server{BaseURL: f.baseURL, HTTP: r.http}
	var wg sync.WaitGroup
	wg.Go(func() { f.version = r.ollamaVersion(ctx, f.baseURL) })
	for i := range infos {
		wg.Go(func() {
			if info, err := server.Show(ctx, f.models[i].ID); err == nil {
				infos[i] = info
			}
		})
	}
	wg.Wait()
	f.trained, f.asked = map[string]int{}, map[string]int{}
	var models []ModelConfig
	for i, m := range f.models {
		var info ollama.Info
		if i < len(infos) {
			info = infos[i]
		}
		if can, known := info.Can("completion"); known && !can {
			continue
		}
		if can, known := info.Can("tools"); known && !can {
			f.noTools = append(f.noTools, canonical(m.ID))
		}
		if can, known := info.Can("vision"); known && can {
			m.Input = []string{"text", "image"}
		}
		if info.ContextLength > 0 {
			f.trained[canonical(m.ID)] = info.ContextLength
		}
		if info.Window > 0 {
			f.asked[canonical(m.ID)] = info.Window
		}
		m.Reasoning, _ = info.Can("thinking")
		models = append(models, m)
	}
	f.models = models
	if len(models) == 0 {
		f.err = "Ollama is running, but none of its models can chat. Get one with `ollama pull qwen3:8b` and try again."
	}
}

// ask does one small request; status is 0 when there is no JSON answer.
func (r *Registry) ask(ctx context.Context, method, address string, body []byte) (status int, answer []byte) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	c := *r.http
	c.Jar = nil
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := c.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode == http.StatusOK && media != "application/json" {
		return 0, nil
	}
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxList))
	if err != nil {
		return 0, nil
	}
	return resp.StatusCode, answer
}

// hint is what the guide should tell about this computer: what could answer and
// waits to be chosen, or a server that runs but cannot be used yet.
func (r *Registry) hint() string {
	if words := r.Offer(); words != "" {
		return words
	}
	v := r.view()
	for _, s := range r.table {
		if f := v.found[s.id]; f.err != "" {
			return f.err
		}
	}
	return ""
}

// Offer is what was found on this computer and is used only when its person says
// so, in words with what to do; "" when there is nothing, or something was chosen.
func (r *Registry) Offer() string {
	if ref, _ := r.Default(); ref != guide.Ref() {
		return ""
	}
	for _, e := range r.Models() {
		how := fmt.Sprintf("Pick it in the **model picker**, or run `hearth models set %s`.", e.Ref)
		switch {
		case e.BuiltIn || !e.Available:
		case e.Source == SourceLocal && !e.Away:
			return fmt.Sprintf("%s on this computer (%s) could answer. %s", e.Name, e.Service, how)
		case e.Source == SourceEnvironment:
			return fmt.Sprintf("A key for %s stands in the environment. Hearth does not use it before you say so: %s could answer then. %s",
				e.Service, e.Name, how)
		}
	}
	return ""
}
