package msteamstest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// root is a conversation without its thread.
func root(conversation string) string {
	before, _, _ := strings.Cut(conversation, ";messageid=")
	return before
}

// open reports whether a request may do something in its conversation, and says why not.
func (s *Server) open(w http.ResponseWriter, r *http.Request) (conversation string, ok bool) {
	conversation = r.PathValue("conversation")
	kind := s.conversations[root(conversation)]
	code := s.state[root(conversation)]
	switch {
	case r.Method != http.MethodDelete && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		no(w, http.StatusUnsupportedMediaType, "BadSyntax", "The content type is no JSON.")
	case kind == "" || r.PathValue("region") != "emea": // it lives elsewhere
		no(w, http.StatusNotFound, "ConversationNotFound", "Conversation not found.")
	case conversation != root(conversation) && kind != "channel":
		no(w, http.StatusBadRequest, "BadArgument", "Threads are in channels.")
	case code != "":
		no(w, http.StatusForbidden, code, "The bot is not part of the conversation roster.")
	default:
		return conversation, true
	}
	return "", false
}

// fast reports whether a conversation is asked too often, and says for how long.
func (s *Server) fast(w http.ResponseWriter, conversation string) bool {
	if !s.limits {
		return false
	}
	now := time.Now()
	all := s.asked[conversation]
	for _, bucket := range []struct {
		within time.Duration
		most   int
	}{{time.Second, 7}, {2 * time.Second, 8}, {30 * time.Second, 60}} {
		if len(all) < bucket.most {
			continue
		}
		if wait := bucket.within - now.Sub(all[len(all)-bucket.most]); wait > 0 {
			s.limited++
			w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
			no(w, http.StatusTooManyRequests, "TooManyRequests", "API calls quota exceeded! maximum admitted 7 per 1s.")
			return true
		}
	}
	s.asked[conversation] = append(all, now)
	return false
}

// mostBody is how much of a request is read.
const mostBody = 8 << 20

func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	conversation, ok := s.open(w, r)
	if !ok {
		return
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, mostBody))
	if err != nil {
		return
	}
	var kind struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(raw, &kind) == nil && kind.Type == "typing" {
		s.typing[conversation]++
		answer(w, http.StatusAccepted, map[string]any{})
		return
	}
	if s.fast(w, conversation) {
		return
	}
	m, status, why := read(raw)
	if why != "" {
		no(w, status, map[int]string{413: "MessageSizeTooBig"}[status], why)
		return
	}
	if len(m.Asks) > 0 && s.conversations[root(conversation)] != "personal" {
		no(w, http.StatusBadRequest, "BadArgument", "Unknown attachment type")
		return
	}
	if id := r.PathValue("id"); id != "" {
		m.ReplyTo = id
	}
	s.count++
	m.ID, m.Conversation = fmt.Sprint(1_790_000_000_000+s.count), conversation
	s.sent = append(s.sent, &m)
	answer(w, http.StatusCreated, map[string]any{"id": m.ID})
}

// change edits and deletes.
func (s *Server) change(w http.ResponseWriter, r *http.Request) {
	conversation, ok := s.open(w, r)
	if !ok {
		return
	}
	i := slices.IndexFunc(s.sent, func(m *Message) bool {
		return m.ID == r.PathValue("id") && root(m.Conversation) == root(conversation) && !m.Gone
	})
	if i < 0 {
		no(w, http.StatusNotFound, "ActivityNotFoundInConversation", "Activity not found in the conversation.")
		return
	}
	if r.Method == http.MethodDelete {
		s.sent[i].Gone = true
		w.WriteHeader(http.StatusOK)
		return
	}
	if s.fast(w, conversation) {
		return
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, mostBody))
	if err != nil {
		return
	}
	m, status, why := read(raw)
	if why != "" {
		no(w, status, map[int]string{413: "MessageSizeTooBig"}[status], why)
		return
	}
	old := s.sent[i]
	old.Text, old.Buttons, old.Pictures, old.Asks, old.Shown = m.Text, m.Buttons, m.Pictures, m.Asks, m.Shown
	old.Edits++
	answer(w, http.StatusOK, map[string]any{"id": old.ID})
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	if !strings.HasPrefix(path, "smba.") {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	s.withToken[path] = r.Header.Get("Authorization") != ""
	f, ok := s.files[path]
	if !ok {
		no(w, http.StatusNotFound, "NotFound", "Not found.")
		return
	}
	w.Header().Set("Content-Type", f.MIME)
	_, _ = w.Write(f.Data)
}
