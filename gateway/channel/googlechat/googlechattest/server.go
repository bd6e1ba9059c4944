// Package googlechattest is Google Chat in memory, as strict as the real one in what an
// app uses: it refuses wrong claims, tokens, names and texts, takes a request's id once,
// signs what it sends, and plays faults that a test asks for. It knows what Google's
// public documentation says, and nothing of our client.
package googlechattest

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/bearer/bearertest"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint/endpointtest"
)

// Email is the app's service account, and Chat's own is what signs calls.
const (
	Email = "hearth@project.iam.gserviceaccount.com"
	Chat  = "chat@system.gserviceaccount.com"
)

// Fault is what happens to a request instead.
type Fault struct {
	Status              int
	Words               string
	Reset               time.Duration // of a limit
	CutBefore, CutAfter bool
}

// Message is one of the app's.
type Message struct {
	Name, Space, Thread, Text string
	Gone                      bool
}

// Server is the whole of it.
type Server struct {
	*endpointtest.Caller
	http     *httptest.Server
	path     string // where the app is called
	audience string
	app, own *rsa.PrivateKey

	mu      sync.Mutex
	count   int
	tokens  map[string]bool
	spaces  map[string]string // name → type
	sent    []*Message
	asked   map[string]*Message // by the id of a request
	files   map[string][]byte
	faults  map[string][]Fault
	granted int
	refuse  bool // no tokens are given
}

// New starts a server that calls the app at the path, with tokens for an audience.
func New(ctx context.Context, path, audience string) (*Server, error) {
	s := &Server{Caller: endpointtest.New(ctx, true), path: path, audience: audience, tokens: map[string]bool{}, spaces: map[string]string{},
		asked: map[string]*Message{}, files: map[string][]byte{}, faults: map[string][]Fault{}}
	var err error
	if s.app, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		return nil, err
	}
	if s.own, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /oauth2.googleapis.com/token", s.token)
	for _, where := range []string{"/service_accounts/v1/jwk/" + Chat, "/oauth2/v3/certs"} {
		mux.HandleFunc("GET /www.googleapis.com"+where, s.keys)
	}
	mux.HandleFunc("GET /chat.googleapis.com/v1/spaces", s.with("list", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{})
	}))
	mux.HandleFunc("POST /chat.googleapis.com/v1/spaces/{space}/messages", s.with("create", s.create))
	mux.HandleFunc("PATCH /chat.googleapis.com/v1/spaces/{space}/messages/{id}", s.with("patch", s.change))
	mux.HandleFunc("DELETE /chat.googleapis.com/v1/spaces/{space}/messages/{id}", s.with("delete", s.change))
	mux.HandleFunc("GET /chat.googleapis.com/v1/media/{resource...}", s.with("media", s.media))
	s.http = httptest.NewServer(mux)
	return s, nil
}

// Close ends the server.
func (s *Server) Close() {
	s.Caller.Close()
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the address below which all hosts are.
func (s *Server) URL() string { return s.http.URL }

// ServiceAccount is the app's JSON key, as Google lets people download it.
func (s *Server) ServiceAccount() string {
	der, err := x509.MarshalPKCS8PrivateKey(s.app)
	if err != nil {
		return ""
	}
	b, _ := json.MarshalIndent(map[string]string{"type": "service_account", "project_id": "project", "private_key_id": "app-key",
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"client_email": Email, "token_uri": "https://oauth2.googleapis.com/token"}, "", "  ")
	return string(b)
}

// AddSpace makes one: DIRECT_MESSAGE or SPACE.
func (s *Server) AddSpace(name, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spaces[name] = kind
}

// Fail says what happens to the next requests of a kind, like "create".
func (s *Server) Fail(what string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[what] = append(s.faults[what], faults...)
}

// Withdraw makes the app's key worthless, and the tokens that it got.
func (s *Server) Withdraw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = true
	clear(s.tokens)
}

// Expire ends the tokens that were given.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Granted is how many tokens were given.
func (s *Server) Granted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted
}

// Sent are the app's messages.
func (s *Server) Sent() (out []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.sent {
		out = append(out, *m)
	}
	return out
}

// Put makes a file.
func (s *Server) Put(resource string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[resource] = data
}

// Said is what somebody wrote.
type Said struct {
	Space, Thread, ID string
	User, Name        string
	Text, Argument    string
	Mention           string // the app's name as it is mentioned; "": it is not
	Files             []map[string]any
	Type              string // of the event; "" is MESSAGE
}

// Say sends an event to the app, again until it was taken.
func (s *Server) Say(m Said) { s.Post(m.ID, func() channel.Call { return s.Call(s.Body(m), nil) }) }

// Body is what Google posts of an event.
func (s *Server) Body(m Said) []byte {
	s.mu.Lock()
	kind := s.spaces[m.Space]
	s.mu.Unlock()
	space := map[string]any{"name": m.Space, "type": map[bool]string{true: "DM", false: "ROOM"}[kind == "DIRECT_MESSAGE"], "spaceType": kind,
		"displayName": "town"}
	sender := map[string]any{"name": m.User, "displayName": m.Name, "email": "ada@example.org", "type": "HUMAN"}
	message := map[string]any{"name": m.Space + "/messages/" + m.ID, "sender": sender, "createTime": time.Now().UTC().Format(time.RFC3339Nano),
		"text": m.Text, "argumentText": m.Argument, "space": space, "attachment": m.Files}
	if m.Thread != "" {
		message["thread"] = map[string]any{"name": m.Space + "/threads/" + m.Thread}
	}
	if m.Mention != "" {
		mention := map[string]any{"type": "MENTION", "user": map[string]any{"name": m.Mention, "displayName": "Hearth", "type": "BOT"}}
		message["annotations"] = []any{map[string]any{"type": "USER_MENTION", "startIndex": 0, "length": 7, "userMention": mention}}
	}
	if m.Type == "" {
		m.Type = "MESSAGE"
	}
	b, _ := json.Marshal(map[string]any{"type": m.Type, "eventTime": time.Now().UTC().Format(time.RFC3339Nano), "message": message,
		"space": space, "user": sender})
	return b
}

// Call is a signed call; change may change what its token says.
func (s *Server) Call(body []byte, change func(map[string]any)) channel.Call {
	now := time.Now()
	claims := map[string]any{"iss": Chat, "aud": s.audience, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	if strings.HasPrefix(s.audience, "https://") {
		claims["iss"], claims["email"], claims["email_verified"] = "https://accounts.google.com", Chat, true
	}
	if change != nil {
		change(claims)
	}
	return s.With(body, sign(s.own, "chat-key", claims))
}

// With is a call with any token.
func (s *Server) With(body []byte, token string) channel.Call {
	return channel.Call{Method: http.MethodPost, Path: s.path, Body: body,
		Header: http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}}}
}

// ByApp signs claims with the app's own key.
func (s *Server) ByApp(claims map[string]any) string { return sign(s.app, "chat-key", claims) }

func sign(key *rsa.PrivateKey, id string, claims any) string {
	return bearertest.Sign(key, map[string]string{"alg": "RS256", "kid": id, "typ": "JWT"}, claims)
}

func (s *Server) keys(w http.ResponseWriter, _ *http.Request) {
	answer(w, 200, bearertest.Keys(s.own, "chat-key", map[string]any{"alg": "RS256"}))
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func no(w http.ResponseWriter, status int, words string) {
	answer(w, status, map[string]any{"error": map[string]any{"code": status, "message": words, "status": "REFUSED"}})
}

// token gives one for a claim that the app has signed.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts := strings.Split(r.FormValue("assertion"), ".")
	bad := func(words string) {
		answer(w, 400, map[string]any{"error": "invalid_grant", "error_description": words})
	}
	if r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || len(parts) != 3 || s.refuse {
		bad("Invalid JWT Signature.")
		return
	}
	mac, _ := base64.RawURLEncoding.DecodeString(parts[2])
	body, _ := base64.RawURLEncoding.DecodeString(parts[1])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	var c struct {
		Iss, Scope, Aud string
		Iat, Exp        int64
	}
	now := time.Now().Unix()
	switch {
	case rsa.VerifyPKCS1v15(&s.app.PublicKey, crypto.SHA256, sum[:], mac) != nil || json.Unmarshal(body, &c) != nil:
		bad("Invalid JWT Signature.")
	case c.Iss != Email || c.Aud != "https://oauth2.googleapis.com/token" || c.Scope != "https://www.googleapis.com/auth/chat.bot":
		bad("Invalid claims.")
	case c.Exp-c.Iat > 3600 || now < c.Iat-300 || now > c.Exp:
		bad("Token must be a short-lived token (60 minutes).")
	default:
		s.granted++
		t := fmt.Sprint("ya29.", s.granted)
		s.tokens[t] = true
		answer(w, 200, map[string]any{"access_token": t, "expires_in": 3599, "token_type": "Bearer"})
	}
}

// with checks the token, and holds the mutex while a request is answered.
func (s *Server) with(what string, do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] {
			no(w, http.StatusUnauthorized, "Request had invalid authentication credentials.")
			return
		}
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
		case f.Status == 0:
			do(w, r)
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

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Text   string `json:"text"`
		Thread struct {
			Name string `json:"name"`
		} `json:"thread"`
	}
	space := "spaces/" + r.PathValue("space")
	err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&b)
	id := r.URL.Query().Get("requestId")
	switch {
	case s.spaces[space] == "":
		no(w, 404, "Space not found.")
	case id != "" && s.asked[id] != nil:
		s.told(w, s.asked[id])
	case err != nil || strings.TrimSpace(b.Text) == "" || len(b.Text) > 32_000:
		no(w, 400, "Message cannot be empty, or is too long.")
	case strings.Contains(b.Text, "<users/"):
		no(w, 400, "The test wants nobody called.")
	case b.Thread.Name != "" && (!strings.HasPrefix(b.Thread.Name, space+"/threads/") || r.URL.Query().Get("messageReplyOption") == ""):
		no(w, 400, "Invalid thread.")
	default:
		s.count++
		m := &Message{Name: fmt.Sprintf("%s/messages/m%d.m%d", space, s.count, s.count), Space: space, Text: b.Text,
			Thread: strings.TrimPrefix(b.Thread.Name, space+"/threads/")}
		s.sent = append(s.sent, m)
		if id != "" {
			s.asked[id] = m
		}
		s.told(w, m)
	}
}

func (s *Server) told(w http.ResponseWriter, m *Message) {
	answer(w, 200, map[string]any{"name": m.Name, "text": m.Text, "space": map[string]any{"name": m.Space}})
}

// change patches and deletes.
func (s *Server) change(w http.ResponseWriter, r *http.Request) {
	name := "spaces/" + r.PathValue("space") + "/messages/" + r.PathValue("id")
	i := slices.IndexFunc(s.sent, func(m *Message) bool { return m.Name == name && !m.Gone })
	if i < 0 {
		no(w, 404, "Message not found.")
		return
	}
	if r.Method == http.MethodDelete {
		s.sent[i].Gone = true
		answer(w, 200, map[string]any{})
		return
	}
	var b struct {
		Text string `json:"text"`
	}
	if json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&b) != nil || b.Text == "" || r.URL.Query().Get("updateMask") != "text" {
		no(w, 400, "Invalid update mask.")
		return
	}
	s.sent[i].Text = b.Text
	s.told(w, s.sent[i])
}

func (s *Server) media(w http.ResponseWriter, r *http.Request) {
	data, ok := s.files[r.PathValue("resource")]
	if !ok || r.URL.Query().Get("alt") != "media" {
		no(w, 404, "Not found.")
		return
	}
	_, _ = w.Write(data)
}
