package mattermosttest

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func param(name string) *no {
	return &no{http.StatusBadRequest, "api.context.invalid_url_param.app_error", "Invalid or missing " + name + " parameter in request URL."}
}

func missing() *no {
	return &no{http.StatusNotFound, "app.post.get.app_error", "Unable to get the post."}
}

func forbidden() *no {
	return &no{http.StatusForbidden, "api.context.permissions.app_error", "You do not have the appropriate permissions."}
}

func isID(s string) bool {
	return len(s) == 26 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// handler is the API as bots use it.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	on := func(pattern string, do func(r *http.Request) (any, *no)) {
		mux.HandleFunc(strings.Replace(pattern, " ", " /api/v4", 1), func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, do) })
	}
	on("GET /users/me", func(*http.Request) (any, *no) { return s.Bot, nil })
	on("GET /users/me/channels", s.mine)
	on("GET /users/{id}", func(r *http.Request) (any, *no) { return found(s.users, r) })
	on("GET /channels/{id}", func(r *http.Request) (any, *no) {
		if c, err := found(s.channels, r); err != nil || !c.members[s.Bot.ID] {
			return nil, forbidden()
		}
		return found(s.channels, r)
	})
	on("POST /channels/direct", s.makeDirect)
	on("GET /channels/{id}/posts", s.history)
	on("POST /posts", s.create)
	on("POST /posts/search", s.search)
	on("GET /posts/{id}/thread", s.thread)
	on("POST /posts/{id}/pin", func(r *http.Request) (any, *no) { return s.pin(r, true) })
	on("POST /posts/{id}/unpin", func(r *http.Request) (any, *no) { return s.pin(r, false) })
	on("GET /posts/{id}", s.readable)
	on("GET /posts/{id}/files/info", s.filesOf)
	on("PUT /posts/{id}/patch", s.patch)
	on("DELETE /posts/{id}", s.remove)
	on("GET /posts/{id}/reactions", s.reactionsOf)
	on("POST /reactions", s.react)
	on("DELETE /users/me/posts/{id}/reactions/{name}", s.unreact)
	on("POST /users/me/typing", s.types)
	on("POST /files", s.upload)
	on("GET /files/{id}", s.download)
	mux.HandleFunc("GET /api/v4/websocket", s.connect)
	return mux
}

// serve judges the token, plays the fault that waits for the request, and answers.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, do func(r *http.Request) (any, *no)) {
	if r.Header.Get("Authorization") != "Bearer "+s.secret() {
		(&no{http.StatusUnauthorized, "api.context.session_expired.app_error", "Invalid or expired session, please login again."}).write(w)
		return
	}
	f, fails := s.fault(r)
	switch {
	case fails && f.CutBefore:
		panic(http.ErrAbortHandler)
	case fails && f.Status == http.StatusTooManyRequests:
		if f.Reset > 0 {
			w.Header().Set("X-Ratelimit-Reset", strconv.Itoa(int(f.Reset.Seconds())))
		}
		http.Error(w, "limit exceeded", f.Status)
		return
	case fails && f.Status != 0 && f.ID == "":
		http.Error(w, "<html>a proxy's page</html>", f.Status)
		return
	case fails && f.Status != 0:
		(&no{f.Status, f.ID, f.Words}).write(w)
		return
	}
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		r.Body = http.MaxBytesReader(w, r.Body, 110<<20)
	}
	s.mu.Lock()
	answer, err := do(r)
	data, file := answer.([]byte)
	if !file {
		data, _ = json.Marshal(answer) // now: it changes later
	}
	s.mu.Unlock()
	if fails && f.CutAfter {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		err.write(w)
		return
	}
	if file {
		_, _ = w.Write(data)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/typing") && !strings.HasSuffix(r.URL.Path, "pin") &&
		!strings.HasSuffix(r.URL.Path, "/search") {
		w.WriteHeader(http.StatusCreated)
	}
	_, _ = w.Write(data)
}

func (s *Server) secret() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

// fault is the one that waits for a request of this kind. The ids of a path are not
// part of its name.
func (s *Server) fault(r *http.Request) (Fault, bool) {
	_, path, _ := strings.Cut(r.Pattern, " /api/v4")
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

func found[T any](m map[string]T, r *http.Request) (T, *no) {
	v, ok := m[r.PathValue("id")]
	if !isID(r.PathValue("id")) {
		return v, param("id")
	}
	if !ok {
		return v, missing()
	}
	return v, nil
}

// read takes a body as it must be: one JSON value, and no field that is not there.
func read(r *http.Request, into any) *no {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if r.Header.Get("Content-Type") != "application/json" || d.Decode(into) != nil || d.More() {
		return &no{http.StatusBadRequest, "api.context.invalid_body_param.app_error", "Invalid or missing body."}
	}
	return nil
}

func (s *Server) mine(*http.Request) (any, *no) {
	out := []Channel{}
	for _, c := range s.channels {
		if c.members[s.Bot.ID] {
			out = append(out, *c)
		}
	}
	return out, nil
}

func (s *Server) makeDirect(r *http.Request) (any, *no) {
	var ids []string
	if err := read(r, &ids); err != nil {
		return nil, err
	}
	if len(ids) != 2 || !slices.Contains(ids, s.Bot.ID) {
		return nil, forbidden()
	}
	for _, id := range ids {
		if s.users[id].ID == "" {
			return nil, &no{http.StatusBadRequest, "api.channel.create_direct_channel.invalid_user.app_error", "Invalid user ID"}
		}
	}
	return s.direct(ids[0], ids[1]), nil
}

func (s *Server) create(r *http.Request) (any, *no) {
	var in struct {
		ChannelID string   `json:"channel_id"`
		Message   string   `json:"message"`
		RootID    string   `json:"root_id"`
		FileIDs   []string `json:"file_ids"`
		PendingID string   `json:"pending_post_id"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	c := s.channels[in.ChannelID]
	if c == nil || !c.members[s.Bot.ID] {
		return nil, forbidden()
	}
	if had := s.posts[s.pending[in.PendingID]]; in.PendingID != "" && had != nil {
		return had, nil
	}
	root := s.posts[in.RootID]
	switch {
	case c.DeleteAt != 0:
		return nil, &no{http.StatusBadRequest, "api.post.create_post.can_not_post_to_deleted.error", "Can not post to deleted channel."}
	case in.RootID != "" && (root == nil || root.ChannelID != c.ID || root.RootID != ""):
		return nil, &no{http.StatusBadRequest, "api.post.create_post.root_id.app_error", "Invalid RootId parameter."}
	case tooLong(in.Message):
		return nil, &no{http.StatusBadRequest, "model.post.is_valid.message_length.app_error",
			"Post Message property is longer than the maximum permitted length."}
	case in.Message == "" && len(in.FileIDs) == 0, len(in.FileIDs) > 5:
		return nil, &no{http.StatusBadRequest, "model.post.is_valid.msg.app_error", "Invalid message."}
	}
	for _, id := range in.FileIDs {
		f := s.files[id]
		if f == nil || f.at != c.ID || f.used {
			return nil, &no{http.StatusBadRequest, "app.post.create.file.app_error", "Invalid file."}
		}
		f.used = true
	}
	p := &Post{ID: s.id(), UserID: s.Bot.ID, ChannelID: c.ID, RootID: in.RootID, Message: in.Message, FileIDs: in.FileIDs,
		PendingID: in.PendingID,
		Props:     map[string]any{"from_bot": "true"}}
	s.publish(p)
	s.written++
	if in.PendingID != "" {
		s.pending[in.PendingID] = p.ID
	}
	return p, nil
}

func (s *Server) readable(r *http.Request) (any, *no) {
	p, err := found(s.posts, r)
	if err == nil && !s.channels[p.ChannelID].members[s.Bot.ID] {
		return nil, forbidden()
	}
	return p, err
}

func (s *Server) filesOf(r *http.Request) (any, *no) {
	p, err := found(s.posts, r)
	if err != nil {
		return nil, err
	}
	out := []File{}
	for _, id := range p.FileIDs {
		out = append(out, *s.files[id])
	}
	return out, nil
}

// own is a post of the bot.
func (s *Server) own(r *http.Request) (*Post, *no) {
	p, err := found(s.posts, r)
	switch {
	case err != nil:
		return nil, err
	case p.UserID != s.Bot.ID:
		return nil, forbidden()
	case p.DeleteAt != 0:
		return nil, missing()
	}
	return p, nil
}

func (s *Server) patch(r *http.Request) (any, *no) {
	p, err := s.own(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Message *string `json:"message"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if in.Message == nil || tooLong(*in.Message) {
		return nil, &no{http.StatusBadRequest, "model.post.is_valid.message_length.app_error", "Invalid message."}
	}
	if *in.Message != p.Message {
		p.Message, p.EditAt = *in.Message, s.tick()
		p.UpdateAt = p.EditAt
		s.tell("post_edited", map[string]any{"post": written(p)}, p.ChannelID)
	}
	return p, nil
}

func (s *Server) remove(r *http.Request) (any, *no) {
	p, err := s.own(r)
	if err != nil {
		return nil, err
	}
	p.DeleteAt = s.tick()
	s.tell("post_deleted", map[string]any{"post": written(p)}, p.ChannelID)
	return map[string]string{"status": "OK"}, nil
}

func (s *Server) reactionsOf(r *http.Request) (any, *no) {
	p, err := found(s.posts, r)
	if err != nil {
		return nil, err
	}
	out := []Reaction{}
	for _, a := range s.reactions {
		if a.PostID == p.ID {
			out = append(out, a)
		}
	}
	return out, nil
}

func (s *Server) react(r *http.Request) (any, *no) {
	var in Reaction
	if err := read(r, &in); err != nil {
		return nil, err
	}
	odd := in.Name == "" || strings.Trim(in.Name, "abcdefghijklmnopqrstuvwxyz0123456789_+-") != ""
	if in.UserID != s.Bot.ID || s.posts[in.PostID] == nil || odd {
		return nil, &no{http.StatusBadRequest, "api.reaction.save_reaction.invalid.app_error", "Reaction is not valid."}
	}
	s.reactions = append(s.reactions, in)
	return in, nil
}

func (s *Server) unreact(r *http.Request) (any, *no) {
	gone := Reaction{UserID: s.Bot.ID, PostID: r.PathValue("id"), Name: r.PathValue("name")}
	s.reactions = slices.DeleteFunc(s.reactions, func(a Reaction) bool { return a == gone })
	return map[string]string{"status": "OK"}, nil
}

func (s *Server) types(r *http.Request) (any, *no) {
	var in struct {
		ChannelID string `json:"channel_id"`
		ParentID  string `json:"parent_id"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if c := s.channels[in.ChannelID]; c == nil || !c.members[s.Bot.ID] {
		return nil, forbidden()
	}
	s.typing = append(s.typing, strings.TrimSuffix(in.ChannelID+"/"+in.ParentID, "/"))
	return map[string]string{"status": "OK"}, nil
}

func (s *Server) upload(r *http.Request) (any, *no) {
	c := s.channels[r.URL.Query().Get("channel_id")]
	if c == nil || !c.members[s.Bot.ID] {
		return nil, forbidden()
	}
	name := r.URL.Query().Get("filename")
	data, err := io.ReadAll(r.Body)
	if err != nil || name == "" || len(data) == 0 || r.ContentLength != int64(len(data)) {
		return nil, &no{http.StatusBadRequest, "api.file.upload_file.incorrect_channelId.app_error", "Unable to upload the file."}
	}
	if len(data) > 100<<20 {
		return nil, &no{http.StatusRequestEntityTooLarge, "api.file.upload_file.too_large_detailed.app_error", "File is too large."}
	}
	f := &File{ID: s.id(), Name: name, MIME: http.DetectContentType(data), Size: int64(len(data)), Data: data, at: c.ID}
	s.files[f.ID] = f
	return map[string]any{"file_infos": []File{*f}, "client_ids": []string{}}, nil
}

func (s *Server) download(r *http.Request) (any, *no) {
	f, err := found(s.files, r)
	if err != nil {
		return nil, err
	}
	return f.Data, nil
}
