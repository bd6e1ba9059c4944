package openaiserver

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/internal/httpbody"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Handler serves /v1/.
type Handler struct {
	Options
	limits Limits
	mux    *http.ServeMux
	turns  *turns
	heads  *heads
	items  *items
	bodies chan struct{} // a token for each body being read
	work   sync.WaitGroup

	mu      sync.Mutex // guards all below
	closed  bool
	all     int
	clients map[string]*load
}

// load is what a client costs now.
type load struct {
	open int
	rate *rate.Limiter
	seen time.Time
}

// New makes the handler of /v1/.
func New(o Options) *Handler {
	h := &Handler{Options: o, limits: o.Limits.withDefaults(), mux: http.NewServeMux(), turns: newTurns(), heads: newHeads(),
		items: newItems(), clients: make(map[string]*load)}
	h.bodies = make(chan struct{}, h.limits.Bodies)
	on := func(is func(Endpoints) bool) func() bool { return func() bool { return is(h.Engine.Endpoints()) } }
	h.route(post, "/v1/chat/completions", pairing.ClientChat, on(func(e Endpoints) bool { return e.Chat }), h.chat)
	h.route(post, "/v1/responses", pairing.ClientChat, on(func(e Endpoints) bool { return e.Responses }), h.responses)
	h.route(post, "/v1/embeddings", pairing.ClientEmbeddings, on(Endpoints.any), h.embeddings)
	h.route(get, "/v1/models", pairing.ClientModels, on(Endpoints.any), h.models)
	h.route(get, "/v1/models/{id...}", pairing.ClientModels, on(Endpoints.any), h.model)
	h.mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		// Which addresses there are is told to those with a token only.
		h.serve(w, r, "", func() bool { return true }, func(http.ResponseWriter, *http.Request, *visit) error {
			return &Error{Status: http.StatusNotFound, Type: "invalid_request_error", Code: "unknown_url",
				Text: fmt.Sprintf("Hearth has no %s %s. It has POST /v1/chat/completions, /v1/responses and /v1/embeddings, and GET /v1/models.",
					r.Method, clip(r.URL.Path, 100))}
		})
	})
	return h
}

// visit is a request that was let in.
type visit struct {
	client pairing.Client
	ctx    context.Context // ends with the request, the token, and the gateway
}

type endpoint func(http.ResponseWriter, *http.Request, *visit) error

const (
	get  = http.MethodGet // and with it HEAD
	post = http.MethodPost
)

// route serves an address with one method; with another one it says so to those who
// may use the address.
func (h *Handler) route(method, path string, need pairing.ClientScope, on func() bool, serve endpoint) {
	h.mux.HandleFunc(method+" "+path, func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, need, on, serve) })
	allow := method
	if method == get {
		allow = "GET, HEAD"
	}
	h.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		h.serve(w, r, need, on, func(w http.ResponseWriter, r *http.Request, _ *visit) error {
			w.Header().Set("Allow", allow)
			return &Error{Status: http.StatusMethodNotAllowed, Type: "invalid_request_error", Code: "method_not_supported",
				Text: fmt.Sprintf("%s is asked with %s, not with %s.", clip(r.URL.Path, 100), method, clip(r.Method, 20)), NoRetry: true}
		})
	})
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.Engine.Endpoints().any() {
		notFound(w)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// notFound is the same bytes for everybody: what there is and who may use it is not
// told, only how its person switches it on.
func notFound(w http.ResponseWriter) {
	off := &Error{Status: http.StatusNotFound, Type: "invalid_request_error", Code: "unknown_url", NoRetry: true,
		Text: "This is switched off in Hearth. `hearth config set gateway.http.endpoints.chatCompletions.enabled true` switches " +
			"/v1/chat/completions on, the same with responses /v1/responses; with either come /v1/models and /v1/embeddings."}
	off.write(w)
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, need pairing.ClientScope, on func() bool, serve endpoint) {
	if !on() {
		notFound(w)
		return
	}
	if err := h.admitted(w, r, need, serve); err != nil {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(h.limits.Write))
		asError(err).write(w)
	}
}

// admitted lets a request in, and bounds what it may cost, before a byte of its
// body is read.
func (h *Handler) admitted(w http.ResponseWriter, r *http.Request, need pairing.ClientScope, serve endpoint) error {
	if need == "" {
		need = pairing.ClientModels // any right would do; this one tells least
	}
	v, err := h.Admit(r, need)
	if err != nil {
		return err
	}
	ctx, cancel := v.Bind(r.Context())
	defer cancel()
	leave, err := h.enter(v.Client.ID)
	if err != nil {
		return err
	}
	defer leave()
	return serve(w, r, &visit{client: v.Client, ctx: ctx})
}

// enter counts a request, or refuses it.
func (h *Handler) enter(clientID string) (leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.Now()
	l := h.clients[clientID]
	if l == nil {
		for id, o := range h.clients { // there are few clients, and those that are gone are dropped here
			if o.open == 0 && now.Sub(o.seen) > time.Hour {
				delete(h.clients, id)
			}
		}
		l = &load{rate: rate.NewLimiter(rate.Limit(h.limits.Rate), h.limits.Burst)}
		h.clients[clientID] = l
	}
	l.seen = now
	switch {
	case h.closed:
		return nil, &Error{Status: http.StatusServiceUnavailable, Type: "api_error", Code: "stopping", Text: "Hearth is stopping. Send it " +
			"again in a moment.", Wait: time.Second}
	case l.open >= h.limits.PerClient:
		return nil, Busy(time.Second, "too_many_requests", fmt.Sprintf("This token has %d requests under way, which is as many as it may "+
			"have. Wait for one to end.", l.open))
	case h.all >= h.limits.All:
		return nil, Busy(time.Second, "too_many_requests", "Hearth has as many requests under way as it takes. Wait for one to end.")
	case !l.rate.AllowN(now, 1):
		return nil, Busy(time.Second, "too_many_requests", fmt.Sprintf("This token may send %g requests a second. Wait a moment.", h.limits.Rate))
	}
	l.open++
	h.all++
	h.work.Add(1)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		l.open--
		h.all--
		h.work.Done()
	}, nil
}

// Close takes no more requests and waits for those under way, which end with
// the port.
func (h *Handler) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.work.Wait()
}

// read reads a body of JSON into v, after one look at its shape.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, v any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &Error{Status: http.StatusUnsupportedMediaType, Type: "invalid_request_error", Text: "Send the request as JSON, with " +
			"Content-Type: application/json."}
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return &Error{Status: http.StatusUnsupportedMediaType, Type: "invalid_request_error", Text: "Send the request without compression."}
	}
	select {
	case h.bodies <- struct{}{}:
		defer func() { <-h.bodies }()
	case <-r.Context().Done():
		return context.Cause(r.Context())
	}
	raw, err := httpbody.Read(w, r, h.limits.Body, h.limits.ReadBody)
	switch {
	case errors.Is(err, httpbody.ErrLarge):
		return err
	case err != nil:
		return &Error{Status: http.StatusRequestTimeout, Type: "invalid_request_error", Text: "The request did not arrive whole. Send it again."}
	}
	return decode(raw, v)
}

// clip shortens what a request said for a message about it.
func clip(s string, n int) string {
	return text.Ellipsis(strings.ToValidUTF8(s, ""), n)
}
