// Package nextcloudtalktest is a Nextcloud server in memory, as strict as the real one
// in what a bot of Talk uses: it refuses wrong signatures, chance, texts, emoji and
// conversations, tells a bot nothing of its own messages, and plays faults that a test
// asks for. It knows what the public documentation of Talk says, and nothing of our
// client.
package nextcloudtalktest

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint/endpointtest"
)

// User and Password are of an account on the server.
const User, Password = "hearth", "AbCdE-FgHiJ-KlMnO-PqRsT-UvWxY"

// Fault is what happens to a request instead.
type Fault struct {
	Status              int
	Reset               time.Duration // of a limit
	Page                bool          // a proxy's page says it
	CutBefore, CutAfter bool
}

// Message is one of the bot's.
type Message struct {
	Token, Text, ReferenceID string
	ReplyTo                  int64
}

// Server is the whole of it.
type Server struct {
	*endpointtest.Caller
	http   *httptest.Server
	secret string
	path   string // where the bot is called

	mu          sync.Mutex
	rooms       map[string]int // token → type
	sent        []Message
	reactions   map[string][]string // token and message → signs of the bot
	seen        map[string]bool     // numbers of messages
	faults      []Fault
	maintenance bool
	asked       int
}

// New starts a server with a bot of the secret, which is called at the path.
func New(ctx context.Context, secret, path string) *Server {
	s := &Server{Caller: endpointtest.New(ctx, false), secret: secret, path: path, rooms: map[string]int{}, reactions: map[string][]string{},
		seen: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status.php", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"installed": true, "maintenance": s.maintenance, "productname": "Nextcloud"})
	})
	mux.HandleFunc("GET /ocs/v2.php/apps/spreed/api/v4/room", s.list)
	mux.HandleFunc("GET /ocs/v2.php/apps/spreed/api/v4/room/{token}", s.room)
	mux.HandleFunc("POST /ocs/v2.php/apps/spreed/api/v1/bot/{token}/message", s.message)
	mux.HandleFunc("POST /ocs/v2.php/apps/spreed/api/v1/bot/{token}/reaction/{id}", s.reaction)
	mux.HandleFunc("DELETE /ocs/v2.php/apps/spreed/api/v1/bot/{token}/reaction/{id}", s.reaction)
	s.http = httptest.NewServer(mux)
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.Caller.Close()
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the server's address.
func (s *Server) URL() string { return s.http.URL }

// AddRoom makes a conversation in which the bot is enabled, of a type: 1 is with one
// person, 2 a group.
func (s *Server) AddRoom(token string, kind int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rooms[token] = kind
}

// Fail says what happens to the next requests of the bot.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Sent are the bot's messages.
func (s *Server) Sent() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// Reactions are those of the bot on a message.
func (s *Server) Reactions(token, id string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reactions[token+" "+id])
}

// Asked is how often the kind of a conversation was asked for.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Said is a message of a person.
type Said struct {
	Token, ID, Actor, Name string
	Text                   string
	Parameters             map[string]any
	ReplyTo                string // text of the message that is answered
	Kind                   string // "" is "message"
}

// Say sends a message of a person to the bot.
func (s *Server) Say(m Said) { s.Post(m.ID, func() channel.Call { return s.Sign(s.Body(m)) }) }

// Body is what the server posts of a message.
func (s *Server) Body(m Said) []byte {
	s.mu.Lock()
	s.seen[m.Token+" "+m.ID] = true
	s.mu.Unlock()
	write := func(text string, params map[string]any) string {
		c := map[string]any{"message": text, "parameters": params}
		if params == nil {
			c["parameters"] = []any{} // as PHP writes an empty table
		}
		b, _ := json.Marshal(c)
		return string(b)
	}
	kind := m.Kind
	if kind == "" {
		kind = "message"
	}
	object := map[string]any{"type": "Note", "id": m.ID, "name": kind, "content": write(m.Text, m.Parameters), "mediaType": "text/markdown"}
	if m.ReplyTo != "" {
		object["inReplyTo"] = map[string]any{"type": "Note", "actor": map[string]any{"type": "Person", "id": "users/bob", "name": "Bob"},
			"object": map[string]any{"type": "Note", "id": "1", "name": "message", "content": write(m.ReplyTo, nil), "mediaType": "text/markdown"}}
	}
	actor := "Person"
	if strings.HasPrefix(m.Actor, "bots/") {
		actor = "Application"
	}
	b, _ := json.Marshal(map[string]any{
		"type": "Create", "actor": map[string]any{"type": actor, "id": m.Actor, "name": m.Name, "talkParticipantType": "1"}, "object": object,
		"target": map[string]any{"type": "Collection", "id": m.Token, "name": "town"},
	})
	return b
}

// Sign makes a call of a body.
func (s *Server) Sign(body []byte) channel.Call {
	chance := make([]byte, 32)
	_, _ = rand.Read(chance)
	random := hex.EncodeToString(chance)
	h := http.Header{"Content-Type": {"application/json"}}
	h.Set("X-Nextcloud-Talk-Random", random)
	h.Set("X-Nextcloud-Talk-Signature", s.mac(random, string(body)))
	h.Set("X-Nextcloud-Talk-Backend", s.URL()+"/")
	return channel.Call{Method: http.MethodPost, Path: s.path, Header: h, Body: body}
}

func (s *Server) mac(random, what string) string {
	m := hmac.New(sha256.New, []byte(s.secret))
	m.Write([]byte(random + what))
	return hex.EncodeToString(m.Sum(nil))
}

// ocs writes an answer in the server's envelope.
func ocs(w http.ResponseWriter, status int, words string, data any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	meta := map[string]any{"status": map[bool]string{true: "ok", false: "failure"}[status < 300], "statuscode": status, "message": words}
	_ = json.NewEncoder(w).Encode(map[string]any{"ocs": map[string]any{"meta": meta, "data": data}})
}

func (s *Server) asUser(w http.ResponseWriter, r *http.Request) bool {
	user, password, ok := r.BasicAuth()
	if !ok || user != User || password != Password || r.Header.Get("OCS-APIRequest") != "true" {
		ocs(w, http.StatusUnauthorized, "Current user is not logged in", nil)
		return false
	}
	return true
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	if s.asUser(w, r) {
		ocs(w, http.StatusOK, "OK", []any{})
	}
}

func (s *Server) room(w http.ResponseWriter, r *http.Request) {
	if !s.asUser(w, r) {
		return
	}
	s.mu.Lock()
	kind, ok := s.rooms[r.PathValue("token")]
	s.asked++
	s.mu.Unlock()
	if !ok {
		ocs(w, http.StatusNotFound, "", []any{})
		return
	}
	ocs(w, http.StatusOK, "OK", map[string]any{"token": r.PathValue("token"), "type": kind, "displayName": "town"})
}

// faulty plays the next fault before something is done; after is to be called then.
func (s *Server) faulty(w http.ResponseWriter) (over bool, after func() (cut bool)) {
	none := func() bool { return false }
	if len(s.faults) == 0 {
		return false, none
	}
	f := s.faults[0]
	s.faults = s.faults[1:]
	cut := func() bool {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = conn.Close()
		}
		return true
	}
	switch {
	case f.CutAfter:
		return false, cut
	case f.CutBefore:
		cut()
	case f.Page:
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, "<html>gateway</html>")
	default:
		if f.Reset > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(f.Reset.Seconds())))
		}
		ocs(w, f.Status, "played", nil)
	}
	return true, none
}

// proven checks what a bot signed.
func (s *Server) proven(w http.ResponseWriter, r *http.Request, what string) bool {
	random := r.Header.Get("X-Nextcloud-Talk-Bot-Random")
	given := r.Header.Get("X-Nextcloud-Talk-Bot-Signature")
	switch {
	case r.Header.Get("OCS-APIRequest") != "true":
		ocs(w, http.StatusPreconditionFailed, "CSRF check failed", nil)
	case len(random) < 32 || !hmac.Equal([]byte(given), []byte(s.mac(random, what))):
		ocs(w, http.StatusUnauthorized, "", nil)
	case s.rooms[r.PathValue("token")] == 0:
		ocs(w, http.StatusNotFound, "", nil)
	default:
		return true
	}
	return false
}

func (s *Server) message(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Message     string `json:"message"`
		ReferenceID string `json:"referenceId"`
		ReplyTo     int64  `json:"replyTo"`
	}
	err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&b)
	s.mu.Lock()
	defer s.mu.Unlock()
	over, after := s.faulty(w)
	if over || !s.proven(w, r, b.Message) {
		return
	}
	switch {
	case err != nil || b.Message == "":
		ocs(w, http.StatusBadRequest, "", nil)
		return
	case utf8.RuneCountInString(b.Message) > 32000:
		ocs(w, http.StatusRequestEntityTooLarge, "", nil)
		return
	case len(b.ReferenceID) > 64:
		ocs(w, http.StatusBadRequest, "reference", nil)
		return
	}
	s.sent = append(s.sent, Message{r.PathValue("token"), b.Message, b.ReferenceID, b.ReplyTo})
	if !after() {
		ocs(w, http.StatusCreated, "", nil)
	}
}

func (s *Server) reaction(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Reaction string `json:"reaction"`
	}
	_ = json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&b)
	s.mu.Lock()
	defer s.mu.Unlock()
	if over, _ := s.faulty(w); over || !s.proven(w, r, b.Reaction) {
		return
	}
	at := r.PathValue("token") + " " + r.PathValue("id")
	there := slices.Index(s.reactions[at], b.Reaction)
	switch {
	case !s.seen[at]:
		ocs(w, http.StatusNotFound, "", nil)
	case b.Reaction == "" || b.Reaction[0] < 0x80:
		ocs(w, http.StatusBadRequest, "", nil)
	case r.Method == http.MethodDelete && there < 0:
		ocs(w, http.StatusNotFound, "", nil)
	case r.Method == http.MethodDelete:
		s.reactions[at] = slices.Delete(s.reactions[at], there, there+1)
		ocs(w, http.StatusOK, "OK", nil)
	case there >= 0:
		ocs(w, http.StatusOK, "OK", nil)
	default:
		s.reactions[at] = append(s.reactions[at], b.Reaction)
		ocs(w, http.StatusCreated, "OK", nil)
	}
}
