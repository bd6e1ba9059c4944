package provider

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Tested is what a test found out about a model. It holds for one server in one
// version.
type Tested struct {
	Window  int // tokens of context that were seen to hold, 0 = not tested
	Limit   int // a window that was seen not to hold, 0 = none
	Tools   string
	Address string
	Version string // of the server, "" when it does not say
	At      time.Time
}

// What a test says of tools.
const (
	ToolsWork    = "work"
	ToolsFail    = "fail"
	ToolsUnknown = ""
)

// Learn replaces what tests have found out.
func (r *Registry) Learn(all map[model.Ref]Tested) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tested = maps.Clone(all)
}

// TestOf is what a test has found out about a model, when it still holds.
func (r *Registry) TestOf(ref model.Ref) (t Tested, ok bool) {
	v := r.view()
	x, known := v.reach(ref.Provider)
	if !known {
		return t, false
	}
	return v.tested(&x, ref.Model)
}

// tested is empty when the server is another one by now.
func (v view) tested(x *reach, id string) (Tested, bool) {
	v.r.mu.Lock()
	t, ok := v.r.tested[model.Ref{Provider: x.id, Model: id}]
	v.r.mu.Unlock()
	if !ok || t.Address != x.baseURL {
		return Tested{}, false
	}
	if now := v.found[x.id].version; now != "" && t.Version != "" && now != t.Version {
		return Tested{}, false
	}
	return t, true
}

// tools reports whether a model may be given tools: one that is known not to
// call them gets none.
func (v view) tools(x *reach, id string) bool {
	t, _ := v.tested(x, id)
	return x.toolIn(id) && t.Tools != ToolsFail
}

// trainedFor is how many tokens of context a model was made for, 0 = not known.
func (x *reach) trainedFor(id string) int { return x.trained[canonical(id)] }

// First is the model of a service that is asked when nobody chose one.
func (r *Registry) First(service string) (model.Ref, bool) {
	x, ok := r.view().reach(service)
	if !ok || len(x.models) == 0 {
		return model.Ref{}, false
	}
	return model.Ref{Provider: service, Model: x.best()}, true
}

// ServerVersion asks a local server for its version; "" when it does not say.
func (r *Registry) ServerVersion(ctx context.Context, service string) string {
	x, ok := r.view().reach(service)
	if !ok || x.api != APIOllama {
		return ""
	}
	return r.ollamaVersion(ctx, strings.TrimSuffix(strings.TrimRight(x.baseURL, "/"), "/v1"))
}

func (r *Registry) ollamaVersion(ctx context.Context, base string) string {
	var got struct {
		Version string `json:"version"`
	}
	status, body := r.ask(ctx, http.MethodGet, base+"/api/version", nil)
	if status != http.StatusOK || json.Unmarshal(body, &got) != nil || len(got.Version) > 64 {
		return ""
	}
	return got.Version
}

// Ollama is where an Ollama server is that could download a model: the one of
// that service, or the first that was found. ok is false when there is none.
func (r *Registry) Ollama(service string) (baseURL, key string, ok bool) {
	v := r.view()
	for _, id := range v.order() {
		if service != "" && id != service {
			continue
		}
		x, _ := v.reach(id)
		if x.api == APIOllama && x.baseURL != "" && (x.isFound(v) || x.source == SourceConfigured) {
			return x.baseURL, x.key, true
		}
	}
	return "", "", false
}
