// Package linetest is LINE's Messaging API in memory, as strict as the real one in what
// a bot uses: it refuses wrong tokens, receivers, texts, quote tokens and keys, takes a
// token for replies once and in time, counts what counts against the quota, sends again
// what was not taken, and plays faults that a test asks for. It knows what LINE's public
// documentation says, and nothing of our client.
package linetest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint/endpointtest"
)

// Fault is what happens to a request instead.
type Fault struct {
	Status              int
	Words               string
	Reset               time.Duration // of a limit
	Page                bool          // a proxy's page says it
	CutBefore, CutAfter bool
}

// Message is one of the bot's.
type Message struct {
	ID, To, Text, Quote string
	Reply               bool // it counts against no quota
}

// File is the content of a message.
type File struct {
	MIME string
	Data []byte
}

// Server is the whole of it.
type Server struct {
	*endpointtest.Caller
	http          *httptest.Server
	token, secret string
	path          string // where the bot is called

	mu       sync.Mutex
	count    int
	sent     []Message
	keys     map[string]Message // by retry key
	replies  map[string]reply
	quotes   map[string]bool
	files    map[string]File
	faults   map[string][]Fault
	loading  []string
	Endpoint string // "": none is set
	Active   bool
	Quota    int64 // 0: none
	again    map[string]bool
}

type reply struct {
	to    string
	until time.Time
}

// New starts a server whose bot has the token and the secret.
func New(ctx context.Context, token, secret, path string) *Server {
	s := &Server{
		Caller: endpointtest.New(ctx, true), token: token, secret: secret, path: path, count: 500_000, keys: map[string]Message{},
		replies: map[string]reply{}, quotes: map[string]bool{}, files: map[string]File{}, faults: map[string][]Fault{}, again: map[string]bool{},
		Endpoint: "https://hearth.example.org" + path, Active: true,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api.line.me/v2/bot/info", s.with(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"userId": "U" + strings.Repeat("0", 32), "basicId": "@hearth", "displayName": "Hearth", "chatMode": "bot"})
	}))
	mux.HandleFunc("GET /api.line.me/v2/bot/channel/webhook/endpoint", s.with(s.endpoint))
	mux.HandleFunc("GET /api.line.me/v2/bot/message/quota", s.with(func(w http.ResponseWriter, _ *http.Request) {
		if s.Quota == 0 {
			answer(w, 200, map[string]any{"type": "none"})
			return
		}
		answer(w, 200, map[string]any{"type": "limited", "value": s.Quota})
	}))
	mux.HandleFunc("GET /api.line.me/v2/bot/message/quota/consumption", s.with(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"totalUsage": s.counted()})
	}))
	mux.HandleFunc("POST /api.line.me/v2/bot/message/push", s.with(s.push))
	mux.HandleFunc("POST /api.line.me/v2/bot/message/reply", s.with(s.reply))
	mux.HandleFunc("POST /api.line.me/v2/bot/chat/loading/start", s.with(s.load))
	mux.HandleFunc("GET /api.line.me/v2/bot/profile/{user}", s.with(profile))
	mux.HandleFunc("GET /api.line.me/v2/bot/group/{group}/member/{user}", s.with(profile))
	mux.HandleFunc("GET /api.line.me/v2/bot/group/{group}/summary", s.with(func(w http.ResponseWriter, r *http.Request) {
		answer(w, 200, map[string]any{"groupId": r.PathValue("group"), "groupName": "family"})
	}))
	mux.HandleFunc("GET /api-data.line.me/v2/bot/message/{id}/content", s.with(s.content))
	s.http = httptest.NewServer(mux)
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.Caller.Close()
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the address below which both hosts are.
func (s *Server) URL() string { return s.http.URL }

// Fail says what happens to the next requests of a kind, like "push".
func (s *Server) Fail(what string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[what] = append(s.faults[what], faults...)
}

// Sent are the bot's messages.
func (s *Server) Sent() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// Loading is for whom the animation was shown.
func (s *Server) Loading() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.loading)
}

// counted is how many messages count; the mutex is held.
func (s *Server) counted() (n int64) {
	for _, m := range s.sent {
		if !m.Reply {
			n++
		}
	}
	return n
}

// Put makes the content of a message.
func (s *Server) Put(id string, f File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[id] = f
}

// Event is what somebody did. Change may change it before it is sent.
type Event struct {
	User, Group string
	ID          string
	Message     map[string]any
	At          time.Time
	NoReply     bool // without a token for replies
	Change      func(map[string]any)
}

// Say sends an event to the bot, again until it was taken.
func (s *Server) Say(e Event) {
	s.Post(e.ID, func() channel.Call {
		s.mu.Lock()
		again := s.again[e.ID]
		s.again[e.ID] = true
		s.mu.Unlock()
		return s.Sign(s.Body(e, again))
	})
}

// Body is what LINE posts of an event.
func (s *Server) Body(e Event, again bool) []byte {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	source := map[string]any{"type": "user", "userId": e.User}
	to := e.User
	if e.Group != "" {
		source, to = map[string]any{"type": "group", "groupId": e.Group, "userId": e.User}, e.Group
	}
	m := map[string]any{"id": e.ID}
	for k, v := range e.Message {
		m[k] = v
	}
	s.mu.Lock()
	if m["type"] == "text" {
		m["quoteToken"] = "q-" + e.ID
		s.quotes["q-"+e.ID] = true
	}
	ev := map[string]any{"type": "message", "mode": "active", "timestamp": e.At.UnixMilli(), "source": source, "webhookEventId": "01" + e.ID,
		"deliveryContext": map[string]any{"isRedelivery": again}, "message": m}
	if !e.NoReply {
		ev["replyToken"] = "r-" + e.ID
		if _, known := s.replies["r-"+e.ID]; !known {
			s.replies["r-"+e.ID] = reply{to, e.At.Add(time.Minute)}
		}
	}
	s.mu.Unlock()
	if e.Change != nil {
		e.Change(ev)
	}
	b, _ := json.Marshal(map[string]any{"destination": "U" + strings.Repeat("0", 32), "events": []any{ev}})
	return b
}

// Sign makes a call of a body.
func (s *Server) Sign(body []byte) channel.Call {
	m := hmac.New(sha256.New, []byte(s.secret))
	m.Write(body)
	h := http.Header{"Content-Type": {"application/json; charset=utf-8"}, "User-Agent": {"LineBotWebhook/2.0"}}
	h.Set("X-Line-Signature", base64.StdEncoding.EncodeToString(m.Sum(nil)))
	return channel.Call{Method: http.MethodPost, Path: s.path, Header: h, Body: body}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func no(w http.ResponseWriter, status int, words string) {
	answer(w, status, map[string]any{"message": words})
}

// with checks the token, and holds the mutex while a request is answered.
func (s *Server) with(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+s.token {
			no(w, http.StatusUnauthorized, "Authentication failed. Confirm that the access token in the authorization header is valid.")
			return
		}
		what := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		if len(s.faults[what]) == 0 {
			do(w, r)
			return
		}
		f := s.faults[what][0]
		s.faults[what] = s.faults[what][1:]
		switch {
		case f.CutAfter:
			do(httptest.NewRecorder(), r)
			cut(w)
		case f.CutBefore:
			cut(w)
		case f.Page:
			w.WriteHeader(f.Status)
			_, _ = io.WriteString(w, "<html>gateway</html>")
		default:
			if f.Reset > 0 {
				w.Header().Set("Retry-After", strconv.Itoa(int(f.Reset.Seconds())))
			}
			no(w, f.Status, f.Words)
		}
	}
}

func cut(w http.ResponseWriter) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = conn.Close()
	}
}

func (s *Server) endpoint(w http.ResponseWriter, _ *http.Request) {
	if s.Endpoint == "" {
		no(w, http.StatusNotFound, "Not found")
		return
	}
	answer(w, 200, map[string]any{"endpoint": s.Endpoint, "active": s.Active})
}

func profile(w http.ResponseWriter, r *http.Request) {
	answer(w, 200, map[string]any{"userId": r.PathValue("user"), "displayName": "Ada", "language": "en"})
}

var (
	idShape  = regexp.MustCompile(`^[UCR][0-9a-f]{32}$`)
	keyShape = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
)

type said struct {
	To         string `json:"to"`
	ReplyToken string `json:"replyToken"`
	Messages   []struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		QuoteToken string `json:"quoteToken"`
	} `json:"messages"`
}

// read checks messages as LINE does.
func (s *Server) read(w http.ResponseWriter, r *http.Request) (said, bool) {
	var b said
	if json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&b) != nil || len(b.Messages) == 0 || len(b.Messages) > 5 {
		no(w, 400, "The request body has 1 error(s)")
		return b, false
	}
	for i, m := range b.Messages {
		units := len(utf16.Encode([]rune(m.Text)))
		if m.Type != "text" || strings.TrimSpace(m.Text) == "" || units > 5000 || m.QuoteToken != "" && !s.quotes[m.QuoteToken] {
			answer(w, 400, map[string]any{"message": "The request body has 1 error(s)", "details": []any{
				map[string]any{"message": "May not be empty or longer than 5000", "property": fmt.Sprintf("messages[%d].text", i)}}})
			return b, false
		}
	}
	return b, true
}

// put keeps messages and answers with their ids.
func (s *Server) put(w http.ResponseWriter, to string, b said, isReply bool) (first Message) {
	var out []any
	for i, m := range b.Messages {
		s.count++
		made := Message{ID: strconv.Itoa(s.count), To: to, Text: m.Text, Quote: m.QuoteToken, Reply: isReply}
		if i == 0 {
			first = made
		}
		s.sent = append(s.sent, made)
		s.quotes["q-"+made.ID] = true
		out = append(out, map[string]any{"id": made.ID, "quoteToken": "q-" + made.ID})
	}
	answer(w, 200, map[string]any{"sentMessages": out})
	return first
}

func (s *Server) push(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("X-Line-Retry-Key")
	b, ok := s.read(w, r)
	switch {
	case !ok:
	case !idShape.MatchString(b.To):
		no(w, 400, "The property, 'to', in the request body is invalid (line: -, column: -)")
	case key != "" && !keyShape.MatchString(key):
		no(w, 400, "The value for the X-Line-Retry-Key header is invalid")
	case key != "" && s.keys[key].ID != "":
		w.Header().Set("X-Line-Accepted-Request-Id", "accepted-before")
		answer(w, 409, map[string]any{"message": "The retry key is already accepted", "sentMessages": []any{
			map[string]any{"id": s.keys[key].ID, "quoteToken": "q-" + s.keys[key].ID}}})
	case s.Quota > 0 && s.counted() >= s.Quota:
		no(w, 429, "You have reached your monthly limit.")
	default:
		m := s.put(w, b.To, b, false)
		if key != "" {
			s.keys[key] = m
		}
	}
}

func (s *Server) reply(w http.ResponseWriter, r *http.Request) {
	b, ok := s.read(w, r)
	if !ok {
		return
	}
	if r.Header.Get("X-Line-Retry-Key") != "" {
		no(w, 400, "Retry key is not supported for this API")
		return
	}
	t, known := s.replies[b.ReplyToken]
	if !known || time.Now().After(t.until) {
		no(w, 400, "Invalid reply token")
		return
	}
	s.replies[b.ReplyToken] = reply{} // used
	s.put(w, t.to, b, true)
}

func (s *Server) load(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Chat    string `json:"chatId"`
		Seconds int    `json:"loadingSeconds"`
	}
	if json.NewDecoder(r.Body).Decode(&b) != nil || !strings.HasPrefix(b.Chat, "U") || b.Seconds%5 != 0 || b.Seconds < 5 || b.Seconds > 60 {
		no(w, 400, "The request body has 1 error(s)")
		return
	}
	s.loading = append(s.loading, b.Chat)
	answer(w, 202, map[string]any{})
}

func (s *Server) content(w http.ResponseWriter, r *http.Request) {
	f, ok := s.files[r.PathValue("id")]
	if !ok {
		no(w, 404, "Not found")
		return
	}
	w.Header().Set("Content-Type", f.MIME)
	_, _ = w.Write(f.Data)
}
