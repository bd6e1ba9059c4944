// Package msteamstest is Microsoft Teams in memory, as strict as the real one in what a
// bot uses: it refuses wrong secrets, tokens, addresses, conversations and messages, is
// asked too often, signs what it sends, and plays faults that a test asks for. It knows
// what Microsoft's public documentation says, and nothing of our client.
package msteamstest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel/endpoint/endpointtest"
)

// The bot, and where its conversations are.
const (
	App     = "11111111-2222-3333-4444-555555555555"
	Tenant  = "99999999-8888-7777-6666-555555555555"
	Secret  = "abc8Q~canary-of-the-client-secret-0123456"
	Bot     = "28:" + App
	Service = "https://smba.trafficmanager.net/emea/"
)

// Fault is what happens to a request instead. Code is Microsoft's word for it.
type Fault struct {
	Status              int
	Code, Words         string
	Reset               time.Duration // of a limit
	CutBefore, CutAfter bool
	Half                bool // the answer ends in its middle
}

// Message is one of the bot's.
type Message struct {
	ID, Conversation string // with the thread
	ReplyTo          string
	Text             string   // as people see it
	Buttons          []Button // that it has now
	Pictures         []Picture
	Asks             []Ask   // questions whether a person wants a file
	Shown            []Shown // files that lie in OneDrive or SharePoint
	Gone             bool
	Edits            int
}

// Button is one of a card.
type Button struct {
	Title, Style, Verb string
	Data               json.RawMessage
}

// Picture is one inside a message.
type Picture struct {
	Name, MIME string
	Data       []byte
}

// File is one that the Bot Connector or SharePoint gives.
type File struct {
	MIME  string
	Data  []byte
	Owner string // who put it into SharePoint
}

// Server is the whole of it.
type Server struct {
	*endpointtest.Caller
	http *httptest.Server
	path string // where the bot is called
	own  *rsa.PrivateKey
	evil *rsa.PrivateKey

	mu            sync.Mutex
	count         int
	tokens        map[string]string // what they are for
	granted       int
	login         *Fault // no tokens are given
	secret        string
	conversations map[string]string // id → conversationType
	state         map[string]string // id → Microsoft's word for why nothing is taken there
	sent          []*Message
	typing        map[string]int
	files         map[string]File // by their path below the server
	withToken     map[string]bool // of the files that were asked for: whether a token came with it
	faults        map[string][]Fault
	asked         map[string][]time.Time // messages, by conversation
	limits        bool
	limited       int
	endorsed      []string
	keysAsked     int
	keysAway      bool
	uploads       map[string]*upload // by the end of their address
	drive         []*Stored
	shared        map[string]File // what people have in SharePoint, by its address
	right         bool            // the app has Sites.ReadWrite.All
	linkless      bool            // the organisation forbids links
	oddTags       bool            // eTags have another form
	elsewhere     []string        // requests for what is not Microsoft's
}

// New starts a server that calls the bot at the path.
func New(ctx context.Context, path string) (*Server, error) {
	s := &Server{Caller: endpointtest.New(ctx, true), path: path, tokens: map[string]string{}, conversations: map[string]string{},
		state: map[string]string{}, typing: map[string]int{}, files: map[string]File{}, withToken: map[string]bool{},
		faults: map[string][]Fault{}, asked: map[string][]time.Time{}, secret: Secret, endorsed: []string{"msteams", "webchat"},
		uploads: map[string]*upload{}, shared: map[string]File{}, right: true}
	var err error
	if s.own, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		return nil, err
	}
	if s.evil, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login.microsoftonline.com/{tenant}/oauth2/v2.0/token", s.token)
	mux.HandleFunc("GET /login.botframework.com/v1/.well-known/openidconfiguration", s.metadata)
	mux.HandleFunc("GET /login.botframework.com/v1/.well-known/keys", s.keys)
	const at = "/smba.trafficmanager.net/{region}/v3/conversations/{conversation}/activities"
	mux.HandleFunc("POST "+at, s.with("post", s.post))
	mux.HandleFunc("POST "+at+"/{id}", s.with("post", s.post))
	mux.HandleFunc("PUT "+at+"/{id}", s.with("put", s.change))
	mux.HandleFunc("DELETE "+at+"/{id}", s.with("delete", s.change))
	mux.HandleFunc("GET /smba.trafficmanager.net/{region}/v3/attachments/{id}/views/original", s.with("file", s.file))
	mux.HandleFunc("GET /contoso.sharepoint.com/{path...}", s.file)
	mux.HandleFunc("GET /files.example.org/{path...}", s.file)
	mux.HandleFunc("PUT /contoso.sharepoint.com"+uploadsAt+"{id}", s.faulty("upload", s.putRange))
	mux.HandleFunc("GET /contoso.sharepoint.com"+uploadsAt+"{id}", s.faulty("missing", s.missing))
	s.graph(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.do(func() { s.elsewhere = append(s.elsewhere, r.Method+" "+r.URL.Path) })
		http.NotFound(w, r)
	})
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

// do holds the mutex.
func (s *Server) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// AddConversation makes one: personal, groupChat or channel.
func (s *Server) AddConversation(id, kind string) { s.do(func() { s.conversations[id] = kind }) }

// Shut makes a conversation take nothing, for a reason that Microsoft has a word for; ""
// opens it again.
func (s *Server) Shut(id, code string) { s.do(func() { s.state[id] = code }) }

// Fail says what happens to the next requests of a kind: post, put, delete, typing, file,
// upload, missing, and those of Graph: content, session, link, item, share.
func (s *Server) Fail(what string, faults ...Fault) {
	s.do(func() { s.faults[what] = append(s.faults[what], faults...) })
}

// Limit lets the bot ask as often as Microsoft does: 7 messages a second, 8 in two, 60 in
// thirty.
func (s *Server) Limit(on bool) { s.do(func() { s.limits = on; clear(s.asked) }) }

// Limited is how often the bot was told to wait.
func (s *Server) Limited() (n int) { s.do(func() { n = s.limited }); return n }

// NoTokens makes Microsoft give none; nil: it does again.
func (s *Server) NoTokens(f *Fault) { s.do(func() { s.login = f; clear(s.tokens) }) }

// NewSecret is the bot's from now on.
func (s *Server) NewSecret(secret string) { s.do(func() { s.secret = secret }) }

// Expire ends the tokens that were given.
func (s *Server) Expire() { s.do(func() { clear(s.tokens) }) }

// Granted is how many tokens were given.
func (s *Server) Granted() (n int) { s.do(func() { n = s.granted }); return n }

// Endorse says for which networks the key that signs calls speaks.
func (s *Server) Endorse(networks ...string) { s.do(func() { s.endorsed = networks }) }

// KeysAway makes the keys not to be had.
func (s *Server) KeysAway(away bool) { s.do(func() { s.keysAway = away }) }

// KeysAsked is how often they were asked for.
func (s *Server) KeysAsked() (n int) { s.do(func() { n = s.keysAsked }); return n }

// Typing is how often “is typing” was shown in a conversation.
func (s *Server) Typing(id string) (n int) { s.do(func() { n = s.typing[id] }); return n }

// Put makes a file at a path below the server, like “contoso.sharepoint.com/x”.
func (s *Server) Put(path string, f File) { s.do(func() { s.files[path] = f }) }

// WithToken reports whether a file was asked for with the bot's token.
func (s *Server) WithToken(path string) (with bool) {
	s.do(func() { with = s.withToken[path] })
	return with
}

// Elsewhere are the requests for what is nowhere here.
func (s *Server) Elsewhere() (out []string) {
	s.do(func() { out = append(out, s.elsewhere...) })
	return out
}

// Sent are the bot's messages.
func (s *Server) Sent() (out []Message) {
	s.do(func() {
		for _, m := range s.sent {
			out = append(out, *m)
		}
	})
	return out
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func no(w http.ResponseWriter, status int, code, words string) {
	answer(w, status, map[string]any{"error": map[string]any{"code": code, "message": words}})
}

// with checks the token, and holds the mutex while a request is answered.
func (s *Server) with(what string, do http.HandlerFunc) http.HandlerFunc {
	return s.locked(what, do, func(w http.ResponseWriter, r *http.Request) bool {
		if s.tokens[bearerOf(r)] == botScope {
			return true
		}
		answer(w, http.StatusUnauthorized, map[string]any{"message": "Authorization has been denied for this request."})
		return false
	})
}

func bearerOf(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// faulty is with for what has its right in its address.
func (s *Server) faulty(what string, do http.HandlerFunc) http.HandlerFunc {
	return s.locked(what, do, func(http.ResponseWriter, *http.Request) bool { return true })
}

// locked holds the mutex while a request is answered that may be made.
func (s *Server) locked(what string, do http.HandlerFunc, may func(http.ResponseWriter, *http.Request) bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !may(w, r) {
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
		case f.Half:
			do(httptest.NewRecorder(), r)
			w.Header().Set("Content-Length", "400")
			_, _ = w.Write([]byte(`{"id":"14`))
		case f.Status == 0:
			do(w, r)
		default:
			if f.Reset > 0 {
				w.Header().Set("Retry-After", strconv.FormatFloat(f.Reset.Seconds(), 'f', -1, 64))
			}
			no(w, f.Status, f.Code, f.Words)
		}
	}
}

func cut(w http.ResponseWriter) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = conn.Close()
	}
}
