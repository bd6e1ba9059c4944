package slacktest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// method is one of the API: which scope it needs and which arguments it knows.
type method struct {
	scope string
	args  string
	do    func(a url.Values) (map[string]any, string)
}

func (s *Server) methods() map[string]method {
	return map[string]method{
		"auth.test": {"", "", func(url.Values) (map[string]any, string) {
			return map[string]any{"user_id": s.Bot.ID, "bot_id": s.BotID, "user": s.Bot.Name, "team": "Test", "team_id": "T0000001"}, ""
		}},
		"apps.connections.open": {"", "", func(url.Values) (map[string]any, string) {
			return map[string]any{"url": strings.Replace(s.http.URL, "http", "ws", 1) + "/link/?ticket=" + s.ticket()}, ""
		}},
		"users.info":            {"users:read", "user", s.userInfo},
		"users.conversations":   {"channels:read", "types exclude_archived limit cursor", s.conversations},
		"conversations.info":    {"channels:read", "channel", s.info},
		"conversations.open":    {"im:write", "users", s.openDirect},
		"conversations.history": {"channels:history", "channel oldest latest limit cursor", s.history},
		"chat.postMessage":      {"chat:write", "channel text thread_ts link_names parse unfurl_links unfurl_media blocks", s.post},
		"chat.update":           {"chat:write", "channel ts text link_names parse blocks", s.update},
		"chat.startStream": {"chat:write", "channel thread_ts markdown_text recipient_user_id recipient_team_id unfurl_links unfurl_media",
			s.startStream},
		"chat.appendStream":                     {"chat:write", "channel ts markdown_text", s.appendStream},
		"chat.stopStream":                       {"chat:write", "channel ts markdown_text blocks", s.stopStream},
		"assistant.threads.setStatus":           {"chat:write", "channel_id thread_ts status", s.setStatus},
		"assistant.threads.setTitle":            {"assistant:write", "channel_id thread_ts title", s.setTitle},
		"assistant.threads.setSuggestedPrompts": {"assistant:write", "channel_id thread_ts prompts title", s.setPrompts},
		"chat.postEphemeral":                    {"chat:write", "channel user text thread_ts", s.ephemeral},
		"pins.add":                              {"pins:write", "channel timestamp", s.pin},
		"pins.remove":                           {"pins:write", "channel timestamp", s.unpin},
		"conversations.replies":                 {"channels:history", "channel ts latest limit", s.replies},
		"chat.delete":                           {"chat:write", "channel ts", s.remove},
		"reactions.get":                         {"reactions:read", "channel timestamp", s.reactions},
		"reactions.add":                         {"reactions:write", "channel timestamp name", s.react},
		"reactions.remove":                      {"reactions:write", "channel timestamp name", s.unreact},
		"files.getUploadURLExternal":            {"files:write", "filename length", s.place},
		"files.completeUploadExternal":          {"files:write", "files channel_id initial_comment thread_ts", s.complete},
	}
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	all := s.methods()
	mux.HandleFunc("POST /api/{method}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("method")
		m, ok := all[name]
		if !ok {
			reply(w, nil, "unknown_method")
			return
		}
		s.serve(w, r, name, m)
	})
	mux.HandleFunc("POST /upload/{id}", s.uploaded)
	mux.HandleFunc("GET /files-pri/{id}", s.download)
	mux.HandleFunc("GET /link/", s.connect)
	return mux
}

// reply answers as Slack does: with 200, and a word where it refuses.
func reply(w http.ResponseWriter, what map[string]any, no string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(answer(what, no))
}

func answer(what map[string]any, no string) []byte {
	if what == nil {
		what = map[string]any{}
	}
	what["ok"] = no == ""
	if no != "" {
		what["error"] = no
	}
	raw, err := json.Marshal(what)
	if err != nil {
		panic(err) // a test's own mistake
	}
	return raw
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, name string, m method) {
	s.mu.Lock()
	want, scopes := s.bot, s.scopes
	if name == "apps.connections.open" {
		want = s.app
	}
	s.mu.Unlock()
	got := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case got == "":
		reply(w, nil, "not_authed")
		return
	case got != want && (strings.HasPrefix(got, "xapp-") != strings.HasPrefix(want, "xapp-")) && want != "revoked":
		reply(w, nil, "not_allowed_token_type")
		return
	case got != want:
		reply(w, nil, "invalid_auth")
		return
	}
	w.Header().Set("X-OAuth-Scopes", strings.Join(scopes, ","))
	if m.scope != "" && !slices.Contains(scopes, m.scope) {
		reply(w, map[string]any{"needed": m.scope, "provided": strings.Join(scopes, ",")}, "missing_scope")
		return
	}
	f, fails := s.fault(name)
	switch {
	case fails && f.CutBefore:
		panic(http.ErrAbortHandler)
	case fails && f.Status != 0:
		if f.After > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(f.After.Seconds())))
		}
		w.WriteHeader(f.Status)
		return
	case fails && f.Error != "":
		reply(w, nil, f.Error)
		return
	}
	if r.ParseForm() != nil || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" && len(r.PostForm) > 0 {
		reply(w, nil, "invalid_form_data")
		return
	}
	for key := range r.PostForm {
		if !slices.Contains(strings.Fields(m.args), key) {
			reply(w, nil, "invalid_arguments")
			return
		}
	}
	s.mu.Lock()
	raw := answer(m.do(r.PostForm)) // now: it changes later
	s.mu.Unlock()
	if fails && f.CutAfter {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(raw)
}

func (s *Server) fault(name string) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.faults[name]
	if len(list) == 0 {
		return Fault{}, false
	}
	s.faults[name] = list[1:]
	return list[0], true
}

func (s *Server) userInfo(a url.Values) (map[string]any, string) {
	u, ok := s.users[a.Get("user")]
	if !ok {
		return nil, "user_not_found"
	}
	return map[string]any{"user": u}, ""
}

func (s *Server) conversations(a url.Values) (map[string]any, string) {
	out := []*Channel{}
	for _, c := range s.channels {
		if !c.out && !c.archived {
			out = append(out, c)
		}
	}
	return map[string]any{"channels": out, "response_metadata": map[string]any{"next_cursor": ""}}, ""
}

// at is the conversation that arguments name.
func (s *Server) at(id string) (*Channel, string) {
	c := s.channels[id]
	switch {
	case c == nil:
		return nil, "channel_not_found"
	case c.out:
		return nil, "not_in_channel"
	}
	return c, ""
}

func (s *Server) info(a url.Values) (map[string]any, string) {
	c, no := s.at(a.Get("channel"))
	return map[string]any{"channel": c}, no
}

func (s *Server) openDirect(a url.Values) (map[string]any, string) {
	if _, ok := s.users[a.Get("users")]; !ok {
		return nil, "user_not_found"
	}
	return map[string]any{"channel": s.direct(a.Get("users"))}, ""
}

// history is a page, the newest first; answers in threads are not in it.
func (s *Server) history(a url.Values) (map[string]any, string) {
	c, no := s.at(a.Get("channel"))
	if no != "" {
		return nil, no
	}
	limit, _ := strconv.Atoi(a.Get("limit"))
	if limit < 1 || limit > 999 {
		return nil, "invalid_limit"
	}
	var all []*Message
	for _, m := range slices.Backward(s.messages) {
		inThread := m.Thread != "" && m.Thread != m.TS && m.Subtype != "thread_broadcast"
		if m.Channel == c.ID && !m.Deleted && !inThread && m.TS > a.Get("oldest") &&
			(a.Get("latest") == "" || m.TS < a.Get("latest")) {
			all = append(all, m)
		}
	}
	from, _ := strconv.Atoi(a.Get("cursor"))
	from = min(from, len(all))
	to, more := min(from+limit, len(all)), ""
	if to < len(all) {
		more = strconv.Itoa(to)
	}
	page := append([]*Message{}, all[from:to]...)
	return map[string]any{"messages": page, "has_more": more != "", "response_metadata": map[string]any{"next_cursor": more}}, ""
}

// may judges a place and a text for the bot's words.
func (s *Server) may(channel, thread, text string) (*Channel, string) {
	c, no := s.at(channel)
	switch {
	case no != "":
		return nil, no
	case c.archived:
		return nil, "is_archived"
	case utf8.RuneCountInString(text) > MostText:
		return nil, "msg_too_long"
	case thread != "" && s.find(channel, thread) == nil:
		return nil, "thread_not_found"
	}
	return c, ""
}

func (s *Server) post(a url.Values) (map[string]any, string) {
	c, no := s.may(a.Get("channel"), a.Get("thread_ts"), a.Get("text"))
	switch {
	case no != "":
		return nil, no
	case strings.TrimSpace(a.Get("text")) == "":
		return nil, "no_text"
	}
	shown, no := blocksOf(a)
	if no != "" {
		return nil, no
	}
	m := s.made(s.Bot, c, a.Get("text"))
	m.Bot, m.Thread, m.Blocks = s.BotID, a.Get("thread_ts"), shown
	s.messages = append(s.messages, m)
	s.tell(c, m, nil)
	return map[string]any{"channel": c.ID, "ts": m.TS, "message": m}, ""
}

func (s *Server) find(channel, ts string) *Message {
	for _, m := range s.messages {
		if m.Channel == channel && m.TS == ts && !m.Deleted {
			return m
		}
	}
	return nil
}

// own is a message of the bot.
func (s *Server) own(a url.Values, other string) (*Message, string) {
	if _, no := s.at(a.Get("channel")); no != "" {
		return nil, no
	}
	m := s.find(a.Get("channel"), a.Get("ts"))
	switch {
	case m == nil:
		return nil, "message_not_found"
	case m.User != s.Bot.ID:
		return nil, other
	}
	return m, ""
}

func (s *Server) update(a url.Values) (map[string]any, string) {
	m, no := s.own(a, "cant_update_message")
	switch {
	case no != "":
		return nil, no
	case utf8.RuneCountInString(a.Get("text")) > MostText:
		return nil, "msg_too_long"
	case a.Get("text") == "":
		return nil, "no_text"
	case m.Streaming:
		return nil, "streaming_state_conflict"
	case m.Streamed && !a.Has("blocks"): // its blocks stay, and what is seen with them
		return map[string]any{"channel": m.Channel, "ts": m.TS, "text": a.Get("text")}, ""
	}
	if a.Has("blocks") { // without them they stay
		if m.Blocks, no = blocksOf(a); no != "" {
			return nil, no
		}
	}
	m.Text = a.Get("text")
	return map[string]any{"channel": m.Channel, "ts": m.TS, "text": m.Text}, ""
}

func (s *Server) remove(a url.Values) (map[string]any, string) {
	m, no := s.own(a, "cant_delete_message")
	if no == "" && m.Streaming {
		no = "streaming_state_conflict"
	}
	if no == "" {
		m.Deleted = true
	}
	return nil, no
}

// reacted is the message that a reaction is about.
func (s *Server) reacted(a url.Values) (*Message, string) {
	if _, no := s.at(a.Get("channel")); no != "" {
		return nil, no
	}
	if m := s.find(a.Get("channel"), a.Get("timestamp")); m != nil {
		return m, ""
	}
	return nil, "message_not_found"
}

func (s *Server) reactions(a url.Values) (map[string]any, string) {
	m, no := s.reacted(a)
	if no != "" {
		return nil, no
	}
	return map[string]any{"type": "message", "message": m}, ""
}

func (s *Server) react(a url.Values) (map[string]any, string) {
	m, no := s.reacted(a)
	if no != "" {
		return nil, no
	}
	name := a.Get("name")
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_+-") != "" {
		return nil, "invalid_name"
	}
	if slices.ContainsFunc(m.Reactions, func(r Reaction) bool { return r.Name == name }) {
		return nil, "already_reacted"
	}
	m.Reactions = append(m.Reactions, Reaction{Name: name, Users: []string{s.Bot.ID}, Count: 1})
	return nil, ""
}

func (s *Server) unreact(a url.Values) (map[string]any, string) {
	m, no := s.reacted(a)
	if no != "" {
		return nil, no
	}
	before := len(m.Reactions)
	m.Reactions = slices.DeleteFunc(m.Reactions, func(r Reaction) bool { return r.Name == a.Get("name") })
	if len(m.Reactions) == before {
		return nil, "no_reaction"
	}
	return nil, ""
}

// place is where a file is uploaded to.
func (s *Server) place(a url.Values) (map[string]any, string) {
	size, err := strconv.ParseInt(a.Get("length"), 10, 64)
	if err != nil || size < 1 || a.Get("filename") == "" {
		return nil, "invalid_arguments"
	}
	f := &File{ID: s.id("F"), Name: a.Get("filename"), want: size}
	s.files[f.ID] = f
	return map[string]any{"upload_url": s.http.URL + "/upload/" + f.ID, "file_id": f.ID}, ""
}

// uploaded takes the bytes of a file; a credential does not belong here.
func (s *Server) uploaded(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(io.LimitReader(r.Body, 110<<20))
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[r.PathValue("id")]
	if err != nil || f == nil || f.want != int64(len(data)) || r.Header.Get("Authorization") != "" {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	f.Data, f.Size = data, f.want
	_, _ = io.WriteString(w, "OK")
}

func (s *Server) complete(a url.Values) (map[string]any, string) {
	c, no := s.may(a.Get("channel_id"), a.Get("thread_ts"), a.Get("initial_comment"))
	if no != "" {
		return nil, no
	}
	var list []struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	if json.Unmarshal([]byte(a.Get("files")), &list) != nil || len(list) == 0 {
		return nil, "invalid_arguments"
	}
	m := s.made(s.Bot, c, a.Get("initial_comment"))
	m.Subtype, m.Bot, m.Thread = "file_share", s.BotID, a.Get("thread_ts")
	for _, e := range list {
		f := s.files[e.ID]
		if f == nil || f.Data == nil {
			return nil, "file_not_found"
		}
		m.Files = append(m.Files, *f)
	}
	s.messages = append(s.messages, m)
	s.tell(c, m, nil)
	return map[string]any{"files": list}, ""
}

// download gives a file to who may read files, and a page to log in to others.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	f := s.files[r.PathValue("id")]
	may := r.Header.Get("Authorization") == "Bearer "+s.bot && slices.Contains(s.scopes, "files:read")
	s.mu.Unlock()
	switch {
	case !may:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>Sign in</title>")
	case f == nil:
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", f.MIME)
		_, _ = w.Write(f.Data)
	}
}
