package zuliptest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// recipients reads whom something is for.
func (s *Server) recipients(to string) (people []User, err *no) {
	var ids []int64
	if json.Unmarshal([]byte(to), &ids) != nil || len(ids) == 0 {
		return nil, bad("Recipient list may only contain user IDs")
	}
	for _, id := range ids {
		u, ok := s.users[id]
		if !ok {
			return nil, bad("Invalid user ID %d", id)
		}
		if id != s.Bot.ID {
			people = append(people, u)
		}
	}
	return people, nil
}

// writable is a channel that the bot may write to.
func (s *Server) writable(id string) (*Stream, *no) {
	n, err := strconv.ParseInt(id, 10, 64)
	t, ok := s.streams[n]
	if err != nil || !ok {
		return nil, &no{http.StatusBadRequest, "STREAM_DOES_NOT_EXIST", fmt.Sprintf("Channel with ID '%s' does not exist", id)}
	}
	if t.private && !t.subscribed {
		return nil, bad("Not authorized to send to channel '%s'", t.Name)
	}
	return t, nil
}

func (s *Server) create(_ *http.Request, p url.Values) (answer, *no) {
	var at Place
	var err *no
	switch p.Get("type") {
	case "stream", "channel":
		at.Stream, err = s.writable(p.Get("to"))
		if at.Topic = p.Get("topic"); err == nil && !p.Has("topic") {
			err = bad("Missing topic")
		}
		if strings.ContainsFunc(at.Topic, unicode.IsControl) {
			err = bad("Invalid character in topic!")
		}
	case "direct", "private":
		if at.People, err = s.recipients(p.Get("to")); p.Has("topic") {
			err = bad("A direct message has no topic")
		}
	default:
		err = bad("Invalid type")
	}
	content := p.Get("content")
	switch {
	case err != nil:
		return nil, err
	case p.Has("queue_id") != p.Has("local_id"):
		return nil, bad("queue_id and local_id belong together")
	case strings.Contains(content, "\x00"):
		return nil, bad("Message must not contain null bytes")
	case strings.TrimSpace(content) == "":
		return nil, bad("Message must not be empty")
	}
	m := s.keep(s.Bot, at, content, nil)
	s.tell(map[string]any{"type": "message", "message": shape(m), "flags": s.flags(m)})
	return answer{"id": m.ID}, nil
}

func (s *Server) types(_ *http.Request, p url.Values) (answer, *no) {
	if op := p.Get("op"); op != "start" && op != "stop" {
		return nil, bad("Invalid op")
	}
	if p.Get("type") == "stream" {
		t, err := s.writable(p.Get("stream_id"))
		if err != nil {
			return nil, err
		}
		if !p.Has("topic") {
			return nil, bad("Missing topic")
		}
		s.typed = append(s.typed, fmt.Sprintf("%d/%s", t.ID, p.Get("topic")))
		return nil, nil
	}
	people, err := s.recipients(p.Get("to"))
	if err != nil {
		return nil, err
	}
	s.typed = append(s.typed, fmt.Sprint(people[0].ID))
	return nil, nil
}

// takeFile is an upload: one part of a form.
func (s *Server) takeFile(r *http.Request) (answer, *no) {
	in, err := r.MultipartReader()
	if err != nil {
		return nil, bad("You must specify a file to upload")
	}
	part, err := in.NextPart()
	if err != nil || part.FileName() == "" {
		return nil, bad("You must specify a file to upload")
	}
	data, err := io.ReadAll(part)
	if err != nil {
		return nil, bad("Malformed request")
	}
	if _, err := in.NextPart(); err != io.EOF {
		return nil, bad("You may only upload one file at a time")
	}
	if len(data) > 25<<20 {
		return nil, bad("Uploaded file is larger than the allowed limit of 25 MiB")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.upload(part.FileName(), part.Header.Get("Content-Type"), data)
	return answer{"url": at, "uri": at, "filename": part.FileName()}, nil
}

// show gives a file an address where it is for a minute.
func (s *Server) show(r *http.Request, _ url.Values) (answer, *no) {
	f, ok := s.files["/user_uploads/"+r.PathValue("realm")+"/"+r.PathValue("rest")]
	if !ok {
		return nil, &no{http.StatusNotFound, "BAD_REQUEST", "File not found"}
	}
	token := fmt.Sprintf("%d", s.id())
	s.shown[token] = f
	return answer{"url": "/user_uploads/temporary/" + token + "/" + url.PathEscape(f.Name)}, nil
}

// download answers whoever has the address; a credential has no business there.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	f, ok := s.shown[r.PathValue("token")]
	s.mu.Unlock()
	if _, _, has := r.BasicAuth(); !ok || has {
		(&no{http.StatusBadRequest, "BAD_REQUEST", "Invalid token"}).write(w)
		return
	}
	w.Header().Set("Content-Type", f.MIME)
	w.Header().Set("Content-Length", strconv.Itoa(len(f.Data)))
	_, _ = w.Write(f.Data)
}
