package zuliptest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// no is an answer of the server that refuses.
type no struct {
	status      int
	code, words string
}

func bad(format string, args ...any) *no {
	return &no{http.StatusBadRequest, "BAD_REQUEST", fmt.Sprintf(format, args...)}
}

func (n *no) write(w http.ResponseWriter) {
	write(w, n.status, map[string]any{"result": "error", "msg": n.words, "code": n.code})
}

func write(w http.ResponseWriter, status int, said map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(said)
}

// answer is what a request gets beside the words that all get.
type answer = map[string]any

// handler is the API as bots use it. The names behind a pattern are its parameters;
// those with a star have to be there.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	on := func(pattern, names string, do func(r *http.Request, p url.Values) (answer, *no)) {
		mux.HandleFunc(strings.Replace(pattern, " ", " /api/v1", 1), func(w http.ResponseWriter, r *http.Request) {
			s.serve(w, r, func() (answer, *no) {
				p, err := params(r, strings.Fields(names))
				if err != nil {
					return nil, err
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				return do(r, p)
			})
		})
	}
	on("GET /users/me", "", func(*http.Request, url.Values) (answer, *no) { return person(s.Bot), nil })
	on("GET /users/{id}", "", s.getUser)
	on("POST /register", "event_types* fetch_event_types apply_markdown*", s.register)
	on("GET /messages", "anchor* num_before* num_after* apply_markdown* narrow include_anchor", s.history)
	on("POST /messages", "type* to* topic content* queue_id local_id read_by_sender", s.create)
	on("GET /messages/{id}", "apply_markdown", s.getMessage)
	on("PATCH /messages/{id}", "content*", s.patch)
	on("DELETE /messages/{id}", "", s.remove)
	on("POST /messages/{id}/reactions", "emoji_name* emoji_code reaction_type", s.react)
	on("DELETE /messages/{id}/reactions", "emoji_name emoji_code reaction_type", s.unreact)
	on("POST /typing", "op* type to stream_id topic", s.types)
	on("GET /user_uploads/{realm}/{rest...}", "", s.show)
	mux.HandleFunc("POST /api/v1/user_uploads", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, func() (answer, *no) { return s.takeFile(r) })
	})
	mux.HandleFunc("GET /api/v1/events", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, func() (answer, *no) { return s.poll(r) })
	})
	mux.HandleFunc("GET /user_uploads/temporary/{token}/{name}", s.download)
	return mux
}

// serve judges the credential, plays the fault that waits for the request, and answers.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, do func() (answer, *no)) {
	email, key, _ := r.BasicAuth()
	if email != Email || key != s.secret() || r.Header.Get("User-Agent") == "" {
		(&no{http.StatusUnauthorized, "INVALID_API_KEY", "Invalid API key"}).write(w)
		return
	}
	f, fails := s.fault(r)
	switch {
	case fails && f.CutBefore:
		panic(http.ErrAbortHandler)
	case fails && f.Status == http.StatusTooManyRequests:
		said := map[string]any{"result": "error", "msg": "API usage exceeded rate limit", "code": "RATE_LIMIT_HIT"}
		if !f.OnlyHeader {
			said["retry-after"] = f.Reset.Seconds()
		}
		w.Header().Set("Retry-After", strconv.Itoa(int(f.Reset.Seconds())))
		write(w, f.Status, said)
		return
	case fails && f.Status != 0 && f.Code == "":
		http.Error(w, "<html>a proxy's page</html>", f.Status)
		return
	case fails && f.Status != 0:
		(&no{f.Status, f.Code, f.Words}).write(w)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 30<<20)
	said, err := do()
	if fails && f.CutAfter {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		err.write(w)
		return
	}
	all := map[string]any{"result": "success", "msg": ""}
	for k, v := range said {
		all[k] = v
	}
	write(w, http.StatusOK, all)
}

func (s *Server) secret() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key
}

// fault is the one that waits for a request of this kind. The ids of a path are not
// part of its name.
func (s *Server) fault(r *http.Request) (Fault, bool) {
	_, path, _ := strings.Cut(r.Pattern, " /api/v1")
	name := r.Method + " " + path
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.faults[name]
	if len(list) == 0 {
		return Fault{}, false
	}
	s.faults[name] = list[1:]
	return list[0], true
}

// params reads those of a request. The real server says in its answer which it does not
// know; here that is an error, so that none is misspelt.
func params(r *http.Request, names []string) (url.Values, *no) {
	p := r.URL.Query()
	if r.Method != http.MethodGet {
		body, err := io.ReadAll(r.Body)
		if err != nil || len(p) > 0 || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
			return nil, bad("Malformed request")
		}
		if p, err = url.ParseQuery(string(body)); err != nil {
			return nil, bad("Malformed payload")
		}
	}
	for name := range p {
		if !slices.Contains(names, name) && !slices.Contains(names, name+"*") {
			return nil, bad("%s is no parameter", name)
		}
	}
	for _, name := range names {
		if must, ok := strings.CutSuffix(name, "*"); ok && !p.Has(must) {
			return nil, &no{http.StatusBadRequest, "REQUEST_VARIABLE_MISSING", "Missing '" + must + "' argument"}
		}
	}
	return p, nil
}

func person(u User) answer {
	return answer{"user_id": u.ID, "full_name": u.Name, "email": u.Email, "is_bot": u.IsBot, "is_active": true, "role": 400}
}

func (s *Server) getUser(r *http.Request, _ url.Values) (answer, *no) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	u, ok := s.users[id]
	if err != nil || !ok {
		return nil, bad("No such user")
	}
	return answer{"user": person(u)}, nil
}

// sees reports whether the bot has received a message.
func (s *Server) sees(m *Message) bool {
	return !m.gone && (m.At.Stream == nil || m.At.Stream.subscribed)
}

// shape is a message as the API writes it.
func shape(m *Message) answer {
	reactions := slices.Clone(m.Reactions)
	if reactions == nil {
		reactions = []Reaction{}
	}
	out := answer{"id": m.ID, "content": m.Content, "sender_id": m.Sender.ID, "sender_full_name": m.Sender.Name,
		"sender_email": m.Sender.Email, "timestamp": m.Timestamp, "client": m.Client,
		"reactions": reactions, "is_me_message": false, "content_type": "text/x-markdown"}
	if t := m.At.Stream; t != nil {
		out["type"], out["stream_id"], out["display_recipient"], out["subject"] = "stream", t.ID, t.Name, m.At.Topic
		return out
	}
	people := []answer{}
	for _, u := range m.At.People {
		people = append(people, answer{"id": u.ID, "email": u.Email, "full_name": u.Name, "is_mirror_dummy": false})
	}
	out["type"], out["display_recipient"], out["subject"] = "private", people, ""
	return out
}

func (s *Server) found(r *http.Request) (*Message, *no) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	i := slices.IndexFunc(s.messages, func(m *Message) bool { return m.ID == id })
	if err != nil || i < 0 || !s.sees(s.messages[i]) {
		return nil, bad("Invalid message(s)")
	}
	return s.messages[i], nil
}

func (s *Server) getMessage(r *http.Request, p url.Values) (answer, *no) {
	m, err := s.found(r)
	if err != nil {
		return nil, err
	}
	said := shape(m)
	said["flags"] = s.flags(m)
	if p.Get("apply_markdown") != "false" {
		said["content"] = "<p>" + m.Content + "</p>"
	}
	return answer{"message": said}, nil
}

// own is a message of the bot.
func (s *Server) own(r *http.Request, what string) (*Message, *no) {
	m, err := s.found(r)
	if err == nil && m.Sender.ID != s.Bot.ID {
		return nil, bad("You don't have permission to %s this message", what)
	}
	return m, err
}

func (s *Server) patch(r *http.Request, p url.Values) (answer, *no) {
	m, err := s.own(r, "edit")
	if err != nil {
		return nil, err
	}
	if strings.Contains(p.Get("content"), "\x00") {
		return nil, bad("Message must not contain null bytes")
	}
	s.edit(m, p.Get("content"))
	return nil, nil
}

func (s *Server) remove(r *http.Request, _ url.Values) (answer, *no) {
	m, err := s.own(r, "delete")
	if err != nil {
		return nil, err
	}
	m.gone = true
	s.tell(map[string]any{"type": "delete_message", "message_id": m.ID})
	return nil, nil
}

// codes are some of the emoji that the server knows by name.
func codes() map[string]string {
	return map[string]string{"+1": "1f44d", "heart": "2764", "eyes": "1f440", "check": "2705", "working_on_it": "1f6e0"}
}

func (s *Server) react(r *http.Request, p url.Values) (answer, *no) {
	m, err := s.found(r)
	if err != nil {
		return nil, err
	}
	code, ok := codes()[p.Get("emoji_name")]
	if !ok {
		return nil, bad("Emoji '%s' does not exist", p.Get("emoji_name"))
	}
	now := Reaction{Name: p.Get("emoji_name"), Code: code, Kind: "unicode_emoji", UserID: s.Bot.ID}
	if slices.Contains(m.Reactions, now) {
		return nil, &no{http.StatusBadRequest, "REACTION_ALREADY_EXISTS", "Reaction already exists."}
	}
	m.Reactions = append(m.Reactions, now)
	return nil, nil
}

func (s *Server) unreact(r *http.Request, p url.Values) (answer, *no) {
	m, err := s.found(r)
	if err != nil {
		return nil, err
	}
	gone := Reaction{Name: p.Get("emoji_name"), Code: p.Get("emoji_code"), Kind: p.Get("reaction_type"), UserID: s.Bot.ID}
	i := slices.Index(m.Reactions, gone)
	if i < 0 {
		return nil, &no{http.StatusBadRequest, "REACTION_DOES_NOT_EXIST", "Reaction doesn't exist."}
	}
	m.Reactions = slices.Delete(slices.Clone(m.Reactions), i, i+1)
	return nil, nil
}
