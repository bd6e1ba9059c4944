package discordtest

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func invalid() *no { return &no{http.StatusBadRequest, 50035, "Invalid Form Body"} }

// handler is the API as bots use it.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	on := func(pattern string, do func(r *http.Request) (any, *no)) {
		mux.HandleFunc(strings.Replace(pattern, " ", " /api/v10", 1), func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, do) })
	}
	on("GET /users/@me", func(*http.Request) (any, *no) { return s.Bot, nil })
	on("GET /gateway/bot", func(*http.Request) (any, *no) {
		return map[string]any{"url": s.socketURL(), "shards": 1,
			"session_start_limit": map[string]any{"total": 1000, "remaining": 1000 - s.idents, "reset_after": 1000, "max_concurrency": 1}}, nil
	})
	on("POST /users/@me/channels", s.makeDirect)
	on("GET /channels/{id}", func(r *http.Request) (any, *no) { return s.at(r) })
	on("GET /channels/{id}/messages", s.history)
	on("POST /channels/{id}/messages", s.create)
	on("GET /channels/{id}/messages/{message}", func(r *http.Request) (any, *no) { return s.one(r) })
	on("PATCH /channels/{id}/messages/{message}", s.edit)
	on("DELETE /channels/{id}/messages/{message}", s.remove)
	on("POST /channels/{id}/typing", s.typing)
	on("PUT /channels/{id}/messages/{message}/reactions/{emoji}/@me", s.react)
	on("DELETE /channels/{id}/messages/{message}/reactions/{emoji}/@me", s.react)
	on("PUT /channels/{id}/messages/pins/{message}", s.pin)
	on("DELETE /channels/{id}/messages/pins/{message}", s.pin)
	on("POST /interactions/{interaction}/{token}/callback", s.respond)
	on("POST /webhooks/{application}/{token}", s.follow)
	on("GET /applications/@me", func(*http.Request) (any, *no) { return map[string]string{"id": s.Bot.ID, "name": "Hearth"}, nil })
	on("PUT /applications/{application}/commands", s.setCommands)
	mux.HandleFunc("GET /attachments/{id}", s.download)
	mux.HandleFunc("GET /gateway", s.connect)
	return mux
}

// serve judges the token, counts the request, plays the fault that waits for it, and
// answers.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, do func(r *http.Request) (any, *no)) {
	s.mu.Lock()
	known := r.Header.Get("Authorization") == "Bot "+s.token
	s.mu.Unlock()
	if !known || !strings.HasPrefix(r.Header.Get("User-Agent"), "DiscordBot (") {
		(&no{http.StatusUnauthorized, 0, "401: Unauthorized"}).write(w)
		return
	}
	f, fails := s.fault(r)
	if wait := s.count(w, r); wait > 0 && !fails {
		f, fails = Fault{Status: http.StatusTooManyRequests, After: wait}, true
	}
	switch {
	case fails && f.CutBefore:
		panic(http.ErrAbortHandler)
	case fails && f.Status == http.StatusTooManyRequests:
		limited(w, f)
		return
	case fails && f.Status != 0 && f.Code == 0 && f.Words == "":
		http.Error(w, "<html>a page of the door</html>", f.Status)
		return
	case fails && f.Status != 0:
		(&no{f.Status, f.Code, f.Words}).write(w)
		return
	}
	s.mu.Lock()
	answer, err := do(r)
	raw, _ := json.Marshal(answer) // now: it changes later
	s.mu.Unlock()
	if fails && f.CutAfter {
		panic(http.ErrAbortHandler)
	}
	switch {
	case err != nil:
		err.write(w)
	case answer == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(raw)
	}
}

// limited asks to wait; without a time in the words when there is none.
func limited(w http.ResponseWriter, f Fault) {
	said := map[string]any{"message": "You are being rate limited.", "global": f.Global}
	if f.After > 0 {
		said["retry_after"] = f.After.Seconds()
		w.Header().Set("Retry-After", strconv.Itoa(int(f.After.Seconds()+0.999)))
	}
	if f.Global {
		w.Header().Set("X-RateLimit-Global", "true")
		w.Header().Set("X-RateLimit-Scope", "global")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusTooManyRequests)
	_ = json.NewEncoder(w).Encode(said)
}

// count takes a request from its bucket and tells of it.
func (s *Server) count(w http.ResponseWriter, r *http.Request) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bucket == 0 {
		return 0
	}
	key := r.Pattern + " " + r.PathValue("id")
	u, now := s.used[key], time.Now()
	if u == nil || !now.Before(u.until) {
		u = &use{left: s.bucket, until: now.Add(s.refill)}
		s.used[key] = u
	}
	u.left--
	h := w.Header()
	h.Set("X-RateLimit-Bucket", fmt.Sprintf("%x", r.Pattern))
	h.Set("X-RateLimit-Limit", strconv.Itoa(s.bucket))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(u.left, 0)))
	h.Set("X-RateLimit-Reset-After", strconv.FormatFloat(u.until.Sub(now).Seconds(), 'f', 3, 64))
	if u.left < 0 {
		s.limited++
		return u.until.Sub(now)
	}
	return 0
}

func (s *Server) fault(r *http.Request) (Fault, bool) {
	_, path, _ := strings.Cut(r.Pattern, " /api/v10")
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

// at is the channel of a request.
func (s *Server) at(r *http.Request) (*Channel, *no) {
	c := s.channels[r.PathValue("id")]
	switch {
	case c == nil:
		return nil, &no{http.StatusNotFound, 10003, "Unknown Channel"}
	case c.denied != 0:
		return nil, &no{http.StatusForbidden, c.denied, "Missing Permissions"}
	}
	return c, nil
}

// one is the message of a request.
func (s *Server) one(r *http.Request) (*Message, *no) {
	c, err := s.at(r)
	if err != nil {
		return nil, err
	}
	m := s.messages[r.PathValue("message")]
	if m == nil || m.Channel != c.ID || m.Deleted {
		return nil, &no{http.StatusNotFound, 10008, "Unknown Message"}
	}
	return m, nil
}

func (s *Server) makeDirect(r *http.Request) (any, *no) {
	var in struct {
		Person string `json:"recipient_id"`
	}
	if !body(r.Body, &in) || s.users[in.Person].ID == "" {
		return nil, invalid()
	}
	return s.direct(in.Person), nil
}

func (s *Server) history(r *http.Request) (any, *no) {
	c, err := s.at(r)
	if err != nil {
		return nil, err
	}
	after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	if limit < 1 || limit > 100 {
		return nil, invalid()
	}
	out := []Message{}
	for _, id := range s.between(c, before, after, limit) { // the newest first
		out = append(out, *s.messages[id])
		out[len(out)-1].Server = "" // only events have it
	}
	slices.Reverse(out)
	return out, nil
}

// body reads one JSON value without fields that are not there.
func body(r io.Reader, into any) bool {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	return d.Decode(into) == nil && !d.More()
}

// payload is what a bot writes.
type payload struct {
	Content  string `json:"content"`
	Mentions *struct {
		Parse   []string `json:"parse"`
		Replied bool     `json:"replied_user"`
	} `json:"allowed_mentions"`
	Reference *struct {
		ID        string `json:"message_id"`
		MustExist *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
	Attachments []struct {
		ID   int    `json:"id"`
		Name string `json:"filename"`
	} `json:"attachments"`
	Nonce      string       `json:"nonce"`
	Enforce    bool         `json:"enforce_nonce"`
	Components *[]Component `json:"components"`
	Poll       *Poll        `json:"poll"`
	Flags      int          `json:"flags"`
}

// silently is SUPPRESS_NOTIFICATIONS, the only flag that a bot of ours may set here.
const silently = 1 << 12

// read takes a payload, alone or with files.
func (s *Server) read(r *http.Request) (p payload, files []File, err *no) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "application/json" {
		if !body(r.Body, &p) {
			return p, nil, invalid()
		}
		return p, nil, nil
	}
	form, bad := r.MultipartReader()
	if bad != nil {
		return p, nil, invalid()
	}
	for {
		part, bad := form.NextPart()
		if bad == io.EOF {
			break
		}
		if bad != nil {
			return p, nil, invalid()
		}
		if part.FormName() == "payload_json" {
			if !body(part, &p) {
				return p, nil, invalid()
			}
			continue
		}
		data, bad := io.ReadAll(part)
		if bad != nil || part.FormName() != fmt.Sprintf("files[%d]", len(files)) {
			return p, nil, invalid()
		}
		if len(data) > MostFile {
			return p, nil, &no{http.StatusRequestEntityTooLarge, 40005, "Request entity too large"}
		}
		files = append(files, File{ID: s.id(), Name: part.FileName(), MIME: "application/octet-stream", Size: int64(len(data)), Data: data})
	}
	if len(files) != len(p.Attachments) {
		return p, nil, invalid()
	}
	return p, files, nil
}

func (s *Server) create(r *http.Request) (any, *no) {
	c, err := s.at(r)
	if err != nil {
		return nil, err
	}
	p, files, err := s.read(r)
	if err != nil {
		return nil, err
	}
	content := strings.TrimSpace(p.Content)
	switch {
	case length(content) > MostText, len(p.Nonce) > 25, p.Flags&^silently != 0:
		return nil, invalid()
	case !fineComponents(p.Components), !finePoll(p.Poll):
		return nil, invalid()
	case content == "" && len(files) == 0 && p.Poll == nil:
		return nil, &no{http.StatusBadRequest, 50006, "Cannot send an empty message"}
	}
	if had := s.messages[s.nonces[p.Nonce]]; p.Enforce && p.Nonce != "" && had != nil {
		return had, nil
	}
	m := s.made(s.Bot, c, content)
	m.Silent = p.Flags == silently
	m.Files, m.Nonce, m.Poll = append([]File{}, files...), p.Nonce, p.Poll
	if p.Components != nil {
		m.Components = *p.Components
	}
	m.Pinged = p.Mentions == nil || len(p.Mentions.Parse) > 0 || p.Mentions.Replied
	if p.Reference != nil {
		m.Kind, m.Answered = 19, s.messages[p.Reference.ID]
		if must := p.Reference.MustExist; m.Answered == nil && (must == nil || *must) {
			return nil, invalid()
		}
	}
	s.keep(m)
	if p.Nonce != "" {
		s.nonces[p.Nonce] = m.ID
	}
	s.tell("MESSAGE_CREATE", m)
	return m, nil
}

func (s *Server) edit(r *http.Request) (any, *no) {
	m, err := s.one(r)
	if err != nil {
		return nil, err
	}
	if m.Author.ID != s.Bot.ID {
		return nil, &no{http.StatusForbidden, 50005, "Cannot edit a message authored by another user"}
	}
	p, _, err := s.read(r)
	if err != nil {
		return nil, err
	}
	if length(p.Content) > MostText || p.Content == "" {
		return nil, invalid()
	}
	if !fineComponents(p.Components) {
		return nil, invalid()
	}
	if p.Components != nil { // without them they stay
		m.Components = *p.Components
	}
	m.Content, m.EditedAt = strings.TrimSpace(p.Content), new(time.Now())
	m.Pinged = m.Pinged || p.Mentions == nil || len(p.Mentions.Parse) > 0
	s.tell("MESSAGE_UPDATE", m)
	return m, nil
}

func (s *Server) remove(r *http.Request) (any, *no) {
	m, err := s.one(r)
	if err != nil {
		return nil, err
	}
	if m.Author.ID != s.Bot.ID {
		return nil, &no{http.StatusForbidden, 50013, "Missing Permissions"}
	}
	m.Deleted = true
	s.tell("MESSAGE_DELETE", map[string]string{"id": m.ID, "channel_id": m.Channel})
	return nil, nil
}

func (s *Server) typing(r *http.Request) (any, *no) {
	c, err := s.at(r)
	if err == nil {
		s.typed = append(s.typed, c.ID)
	}
	return nil, err
}

func (s *Server) react(r *http.Request) (any, *no) {
	m, err := s.one(r)
	if err != nil {
		return nil, err
	}
	name := r.PathValue("emoji")
	if name == "" || name[0] < 0x80 {
		return nil, &no{http.StatusBadRequest, 10014, "Unknown Emoji"}
	}
	m.Reactions = slices.DeleteFunc(m.Reactions, func(a Reaction) bool { return a.Emoji["name"] == name })
	if r.Method == http.MethodPut {
		m.Reactions = append(m.Reactions, Reaction{Count: 1, Me: true, Emoji: map[string]any{"id": nil, "name": name}})
	}
	return nil, nil
}

// download gives a file to everybody who has its address; a credential does not belong
// here.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	f := s.files[r.PathValue("id")]
	s.mu.Unlock()
	if f == nil || r.Header.Get("Authorization") != "" {
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
		return
	}
	_, _ = w.Write(f.Data)
}
