package telegramtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// BotID and BotName are the bot's.
const (
	BotID   int64 = 4242424242
	BotName       = "HearthTestBot"
)

// Server is one Bot API with one bot.
type Server struct {
	token string
	http  http.Server
	lis   *listener
	done  sync.WaitGroup

	mu       sync.Mutex
	wake     chan struct{} // closed when something happened
	chats    map[int64]*Chat
	messages map[int64][]*Message // by chat
	lastID   map[int64]int64
	updates  []update
	nextUpd  int64
	poller   context.CancelCauseFunc // the poll that waits
	hookURL  string
	hookKey  string
	allowed  []string
	files    map[string]File
	faults   map[string][]Fault
	calls    map[string]int
	actions  []Action
	rate     map[int64][]time.Time
	perChat  int
	perTime  time.Duration
	revoked  bool
	deaf     bool // polls are accepted and never answered
	requests []Request
	presses  map[string]pressed
	reacted  map[string][]string
	menu     map[string][]Command // by language
	albums   int

	connections map[string]Connection
	behalves    map[string]int64 // chats in somebody's name, by connection and customer
	heard       map[int64]time.Time
}

// Request is one call as it came in.
type Request struct {
	Method string
	Params map[string]any
	At     time.Time
}

type update struct {
	id   int64
	body map[string]any
}

// New starts a server that knows this token. Close ends it.
func New(token string) *Server {
	s := &Server{
		token: token, lis: newListener(), wake: make(chan struct{}),
		chats: map[int64]*Chat{}, messages: map[int64][]*Message{}, lastID: map[int64]int64{},
		nextUpd: 1000, files: map[string]File{}, faults: map[string][]Fault{}, calls: map[string]int{},
		rate: map[int64][]time.Time{}, presses: map[string]pressed{}, reacted: map[string][]string{}, menu: map[string][]Command{},
		connections: map[string]Connection{}, behalves: map[string]int64{}, heard: map[int64]time.Time{},
	}
	s.http.Handler = s
	s.done.Go(func() { _ = s.http.Serve(s.lis) })
	return s
}

// URL is the address for Options.BaseURL. Only Client reaches it.
func (s *Server) URL() string { return "http://localhost" }

// Client reaches the server, whatever host an address names.
func (s *Server) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: s.lis.dial, DisableKeepAlives: true}}
}

// Close ends the server and waits for it.
func (s *Server) Close() {
	_ = s.http.Close()
	_ = s.lis.Close()
	s.done.Wait()
}

// listener is a network in memory.
type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newListener() *listener {
	return &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// refusal is an answer that is not ok.
type refusal struct {
	code       int
	text       string
	retryAfter int
	migrateTo  int64
}

func (r *refusal) Error() string { return r.text }

func bad(format string, args ...any) error {
	return &refusal{code: http.StatusBadRequest, text: "Bad Request: " + fmt.Sprintf(format, args...)}
}

// ServeHTTP is the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p, ok := strings.CutPrefix(r.URL.Path, "/file/bot"); ok {
		s.serveFile(w, r, p)
		return
	}
	token, method, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	if !ok || !strings.HasPrefix(r.URL.Path, "/bot") || token != s.token {
		write(w, nil, &refusal{code: http.StatusNotFound, text: "Not Found"})
		return
	}
	params, err := readParams(r)
	if err != nil {
		write(w, nil, err)
		return
	}
	s.mu.Lock()
	s.calls[method]++
	s.requests = append(s.requests, Request{Method: method, Params: params, At: time.Now()})
	revoked := s.revoked
	var fault *Fault
	if list := s.faults[method]; len(list) > 0 {
		fault, s.faults[method] = &list[0], list[1:]
	}
	s.mu.Unlock()
	if revoked {
		write(w, nil, &refusal{code: http.StatusUnauthorized, text: "Unauthorized"})
		return
	}
	if fault != nil && s.fail(w, r, method, params, *fault) {
		return
	}
	result, err := s.dispatch(r.Context(), method, params)
	write(w, result, err)
}

func write(w http.ResponseWriter, result any, err error) {
	body := map[string]any{"ok": err == nil}
	code := http.StatusOK
	if err == nil {
		body["result"] = result
	} else {
		var r *refusal
		if !errors.As(err, &r) {
			r = &refusal{code: http.StatusInternalServerError, text: "Internal Server Error"}
		}
		code = r.code
		body["error_code"], body["description"] = r.code, r.text
		if r.retryAfter > 0 {
			body["parameters"] = map[string]any{"retry_after": r.retryAfter}
		}
		if r.migrateTo != 0 {
			body["parameters"] = map[string]any{"migrate_to_chat_id": r.migrateTo}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

// readParams takes the three encodings that Telegram takes.
func readParams(r *http.Request) (map[string]any, error) {
	out := map[string]any{}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		d := json.NewDecoder(io.LimitReader(r.Body, 1<<20))
		d.UseNumber()
		if err := d.Decode(&out); err != nil {
			return nil, bad("can't parse JSON object: %v", err)
		}
	case "application/x-www-form-urlencoded":
		if err := r.ParseForm(); err != nil {
			return nil, bad("can't parse form")
		}
		for k, v := range r.PostForm {
			out[k] = v[0]
		}
	case "multipart/form-data":
		if r.ContentLength < 0 {
			return nil, bad("the upload does not say how long it is")
		}
		if err := r.ParseMultipartForm(64 << 20); err != nil {
			return nil, bad("can't parse multipart: %v", err)
		}
		for k, v := range r.MultipartForm.Value {
			out[k] = v[0]
		}
		for k, v := range r.MultipartForm.File {
			f, err := v[0].Open()
			if err != nil {
				return nil, err
			}
			data, err := io.ReadAll(f)
			_ = f.Close()
			if err != nil {
				return nil, err
			}
			out[k] = File{Name: v[0].Filename, MIME: v[0].Header.Get("Content-Type"), Data: data}
		}
	}
	return out, nil
}

func str(p map[string]any, key string) string {
	switch v := p[key].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

func num(p map[string]any, key string) int64 {
	n, _ := strconv.ParseInt(str(p, key), 10, 64)
	return n
}

func object(p map[string]any, key string) map[string]any {
	switch v := p[key].(type) {
	case map[string]any:
		return v
	case string:
		out := map[string]any{}
		d := json.NewDecoder(strings.NewReader(v))
		d.UseNumber()
		_ = d.Decode(&out)
		return out
	}
	return nil
}

// changed wakes whoever waits; the lock is held.
func (s *Server) changed() {
	close(s.wake)
	s.wake = make(chan struct{})
}
