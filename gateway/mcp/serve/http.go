package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hearth-assistant/hearth/gateway/pairing/admission"
)

// Visit is a request that was let in with a token.
type Visit struct {
	ID      string  // of the token
	Gateway Gateway // what the token may
	Own     bool    // see Options
	// Bind returns a context that ends with the token, and Release or its cancel
	// forgets the visit.
	Bind    func(context.Context) (_ context.Context, cancel func())
	Release func()
}

// HTTPOptions of a Handler. All are needed.
type HTTPOptions struct {
	Version string
	Life    context.Context // sessions end with it
	Go      func(func())    // runs what outlives a request
	// Admit lets a request in; an error is best one that admission.Refused knows.
	Admit func(r *http.Request) (Visit, error)
}

// The limits on one token.
const (
	maxBody     = 1 << 20
	maxSessions = 16
	maxRequests = 16 // at the same time
	idleTime    = 30 * time.Minute
	writeTime   = 30 * time.Second // for a reader to take a piece
)

// Handler is the server over HTTP ("streamable HTTP"). Each token has sessions
// of its own, which nobody with another token finds and which end with it.
type Handler struct {
	o HTTPOptions

	mu    sync.Mutex // guards the following and what rooms count
	rooms map[string]*room
}

// room is everything of one token.
type room struct {
	life   context.Context
	server *mcp.Server
	http   http.Handler
	busy   int
}

// NewHandler returns a Handler.
func NewHandler(o HTTPOptions) *Handler { return &Handler{o: o, rooms: map[string]*room{}} }

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v, err := h.o.Admit(r)
	if err != nil {
		refuse(w, err)
		return
	}
	m := h.room(v)
	if !h.enter(m) {
		refuse(w, busy("this token has %d requests under way; wait for one to end", maxRequests, time.Second))
		return
	}
	defer h.leave(m)
	if r.Method == http.MethodPost {
		if !readBody(w, r) {
			return
		}
		if r.Header.Get("Mcp-Session-Id") == "" && sessions(m.server) >= maxSessions {
			refuse(w, busy("this token has %d sessions; end one with DELETE", maxSessions, time.Minute))
			return
		}
	}
	ctx, done := within(r.Context(), m.life)
	defer done()
	m.http.ServeHTTP(&patient{w, http.NewResponseController(w)}, r.WithContext(ctx))
}

// room finds the token's, or makes it. It goes with the token.
func (h *Handler) room(v Visit) *room {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m := h.rooms[v.ID]; m != nil && m.life.Err() == nil {
		v.Release()
		return m
	}
	life, end := v.Bind(h.o.Life)
	server := New(v.Gateway, Options{Version: h.o.Version, Own: v.Own, Life: life})
	m := &room{life: life, server: server}
	m.http = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		SessionTimeout: idleTime})
	h.rooms[v.ID] = m
	h.o.Go(func() {
		<-life.Done()
		end()
		h.mu.Lock()
		if h.rooms[v.ID] == m {
			delete(h.rooms, v.ID)
		}
		h.mu.Unlock()
		for s := range server.Sessions() {
			_ = s.Close()
		}
	})
	return m
}

func (h *Handler) enter(m *room) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.busy >= maxRequests {
		return false
	}
	m.busy++
	return true
}

func (h *Handler) leave(m *room) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m.busy--
}

func sessions(s *mcp.Server) (n int) {
	for range s.Sessions() {
		n++
	}
	return n
}

// readBody takes the whole message, so that nothing that follows waits for it.
func readBody(w http.ResponseWriter, r *http.Request) bool {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		refuse(w, &admission.Refusal{Status: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf("a message has at most %d MB", maxBody>>20)})
		return false
	}
	if err != nil {
		refuse(w, &admission.Refusal{Status: http.StatusBadRequest, Text: "the message did not arrive whole"})
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(b))
	return true
}

func busy(text string, most int, wait time.Duration) *admission.Refusal {
	return &admission.Refusal{Status: http.StatusTooManyRequests, Text: fmt.Sprintf(text, most), Wait: wait}
}

func refuse(w http.ResponseWriter, err error) {
	known, ok := admission.Refused(err)
	if !ok {
		known = &admission.Refusal{Status: http.StatusInternalServerError, Text: "this did not work; `hearth logs` says why"}
	}
	known.Mark(w.Header())
	http.Error(w, known.Text, known.Status)
}

// patient gives each piece of an answer its own time to be taken: the answer
// may take long, and who does not read is cut off all the same.
type patient struct {
	http.ResponseWriter
	c *http.ResponseController
}

// Write implements http.ResponseWriter.
func (p *patient) Write(b []byte) (int, error) {
	_ = p.c.SetWriteDeadline(time.Now().Add(writeTime))
	return p.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (p *patient) Flush() {
	_ = p.c.SetWriteDeadline(time.Now().Add(writeTime))
	_ = p.c.Flush()
}

// Unwrap is for http.ResponseController.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }
