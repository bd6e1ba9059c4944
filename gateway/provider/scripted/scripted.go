// Package scripted is a model server for tests and benchmarks. It speaks Chat
// Completions, Responses, Messages, Gemini's, Ollama's and Bedrock's dialect over
// HTTP, streaming or in one piece as asked, and does what the model id says: answer, call a tool, or fail in one of the ways in which real
// services fail. It owns no protocol knowledge of ours: it writes the dialects
// by hand, so that a mistake in our readers is not mirrored here.
//
// Model ids:
//
//	echo                    "echo: " and the last user text, word by word
//	stream-<n>-<ms>         "re: <last user text>" and n words, ms apart
//	long-<kb>               a long Markdown answer
//	think                   reasoning, then an echo
//	see                     tells how many pictures the request holds
//	tool-<name>             calls the tool with the JSON object in the last user
//	                        text, else with {}, then tells its result
//	tools-<n>               calls session_status n times at once
//	tool-loop-<name>        calls the tool in every turn
//	tool-text-<name>        calls the tool with the user's text as its arguments
//	tool-badargs-<name>     calls the tool with arguments that are not JSON
//	window-<tokens>         knows only the last tokens of what the person said, and
//	                        tells the secret word that stands there
//	wait-<ms>-<id>          waits, then does what the other id says
//	fault-slowfirst-<ms>    waits before the headers, then echoes
//	fault-cut-<n>           cuts the connection after n words
//	fault-cut-tool          cuts the connection inside a tool call
//	fault-malformed         sends bytes that are not the dialect after a word
//	fault-<status>          answers with that HTTP status and a fitting body
//	fault-429-<seconds>     the same with Retry-After (any text)
//	fault-once-<status>     fails once per user text, then echoes
//	fault-context           400: the conversation is too long
//	fault-billing           400: no credit left
//	fault-stream-error      a failure inside the stream after a word
//	fault-empty             ends without a word
//	fault-thinkonly         ends after reasoning
//	fault-refusal           stops for a content filter
//	fault-hang              headers, then silence
//	fault-hang-mid          two words, then silence
//	fault-keepalive         signs of life for ever, no words
//	fault-html              200 with a web page
//	fault-json              200 with JSON that is no stream
//	fault-gzip              a compressed answer that breaks off
//	fault-encoding          an answer in an encoding that was not asked for
//	fault-noise             200 with words that are no dialect
//	fault-nothing           200 without a byte
//	fault-big               500 with a page of 2 MB
//	fault-waf               403 with a firewall's page
//	fault-away              a redirect to another host
//	fault-notools           refuses requests that carry tools, else echoes
//	fault-nothink           refuses requests that ask for reasoning, else echoes
package scripted

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// maxTexts bounds what is remembered about user texts.
const maxTexts = 200_000

// Handler is the server. Its zero value is not usable; see New.
type Handler struct {
	mu    sync.Mutex
	stats Stats
	keys  map[string]bool // keys that requests carried
}

// Stats is what GET /_stats answers.
type Stats struct {
	Requests    int            `json:"requests"`
	InFlight    int            `json:"inFlight"`
	MaxInFlight int            `json:"maxInFlight"`
	Cancelled   int            `json:"cancelled"` // clients that left before the end
	ByModel     map[string]int `json:"byModel"`
	ByText      map[string]int `json:"byText"`   // requests by last user text
	Tools       bool           `json:"tools"`    // the last request carried tools
	Thinking    string         `json:"thinking"` // the last request's parameter of reasoning, "" for none
	System      string         `json:"system"`   // the last request's system prompt
}

// New returns a server that has seen nothing.
func New() *Handler {
	return &Handler{stats: Stats{ByModel: map[string]int{}, ByText: map[string]int{}}, keys: map[string]bool{}}
}

// Calls is how many requests had text as their last user text.
func (h *Handler) Calls(text string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stats.ByText[text]
}

// SawKey reports whether a request carried this key.
func (h *Handler) SawKey(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keys[key]
}

// Snapshot returns a copy of the statistics.
func (h *Handler) Snapshot() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.stats
	s.ByModel, s.ByText = copyOf(s.ByModel), copyOf(s.ByText)
	return s
}

func copyOf(m map[string]int) map[string]int {
	c := make(map[string]int, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// begin counts a request and returns how many had this text, itself included.
func (h *Handler) begin(t *turn) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stats.Requests++
	h.stats.InFlight++
	h.stats.MaxInFlight = max(h.stats.MaxInFlight, h.stats.InFlight)
	h.stats.ByModel[t.model]++
	h.stats.Thinking, h.stats.System, h.stats.Tools = t.thinking, t.system, t.tools
	if _, known := h.stats.ByText[t.user]; known || len(h.stats.ByText) < maxTexts {
		h.stats.ByText[t.user]++
	}
	return h.stats.ByText[t.user]
}

func (h *Handler) end(r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stats.InFlight--
	if r.Context().Err() != nil {
		h.stats.Cancelled++
	}
}

func (h *Handler) noteKey(r *http.Request) {
	key := r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key") + r.Header.Get("Api-Key")
	if a := r.Header.Get("Authorization"); len(a) > 7 {
		key = a[7:]
	}
	if key != "" {
		h.mu.Lock()
		h.keys[key] = true
		h.mu.Unlock()
	}
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.noteKey(r)
	switch r.URL.Path {
	case "/v1/chat/completions", "/chat/completions":
		h.answer(w, r, openaiVoice{})
	case "/v1/messages":
		h.answer(w, r, anthropicVoice{})
	case "/v1/responses", "/responses":
		h.answer(w, r, responsesVoice{})
	case "/api/chat":
		h.answer(w, r, ollamaVoice{})
	case "/v1/models", "/models":
		writeJSON(w, 200, openaiModels())
	case "/api/tags":
		writeJSON(w, 200, ollamaModels())
	case "/api/show":
		writeJSON(w, 200, map[string]any{"capabilities": []string{"completion", "tools"}, "model_info": map[string]any{
			"scripted.context_length": 32768}})
	case "/api/ps":
		writeJSON(w, 200, map[string]any{"models": []map[string]any{{"name": "echo", "model": "echo", "size": 1 << 30, "size_vram": 1 << 30,
			"context_length": 4096}}})
	case "/api/pull":
		pull(w, r)
	case "/api/version":
		writeJSON(w, 200, map[string]string{"version": "0.13.0"})
	case "/_stats":
		writeJSON(w, 200, h.Snapshot())
	default:
		h.byPath(w, r)
	}
}

// byPath serves the dialects that put the model into the address.
func (h *Handler) byPath(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.Contains(r.URL.Path, "/models/") && strings.Contains(r.URL.Path, ":"):
		h.answer(w, r, geminiVoice{})
	case strings.HasPrefix(r.URL.Path, "/model/"):
		h.answer(w, r, bedrockVoice{})
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

// pull plays a download: any model comes in two parts, but "missing" is not
// there and "cut" breaks off.
func pull(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model string `json:"model"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		writeJSON(w, 400, map[string]string{"error": "missing request body"})
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	say := func(line string) { io.WriteString(w, line+"\n") }
	say(`{"status":"pulling manifest"}`)
	if q.Model == "missing" {
		say(`{"error":"pull model manifest: file does not exist"}`)
		return
	}
	say(`{"status":"pulling 8eeb52dfb3bb","digest":"sha256:8eeb52dfb3bb","total":2000}`)
	say(`{"status":"pulling 8eeb52dfb3bb","digest":"sha256:8eeb52dfb3bb","total":2000,"completed":1500}`)
	if q.Model == "cut" {
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	say(`{"status":"pulling 8eeb52dfb3bb","digest":"sha256:8eeb52dfb3bb","total":2000,"completed":2000}`)
	say(`{"status":"verifying sha256 digest"}`)
	say(`{"status":"success"}`)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// listed are the models that the lists name; every other id works too.
func listed() []string {
	return []string{"echo", "stream-50-20", "long-20", "think", "tool-session_status"}
}

func openaiModels() any {
	type entry struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	var data []entry
	for _, id := range listed() {
		data = append(data, entry{id, "model"})
	}
	return map[string]any{"object": "list", "data": data}
}

func ollamaModels() any {
	type entry struct {
		Name  string `json:"name"`
		Model string `json:"model"`
		Size  int64  `json:"size"`
	}
	var models []entry
	for _, id := range listed() {
		models = append(models, entry{id, id, 1 << 30})
	}
	return map[string]any{"models": models}
}
