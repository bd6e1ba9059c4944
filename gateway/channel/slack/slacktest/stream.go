package slacktest

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Rates by Slack's tiers, calls a minute: 2, 3 and 4.
const (
	tier2 = 20
	tier3 = 50
	tier4 = 100
)

const mostAdded = 12_000

// Switch says whether the workspace has streams and the assistant's view; both are on in
// a new one. Limit keeps to Slack's tiers of requests.
func (s *Server) Switch(streams, view bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noStreams, s.noView = !streams, !view
}

// Limit keeps to the tiers of the methods about streams.
func (s *Server) Limit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limited = true
}

// over reports that a method was called too often within a minute.
func (s *Server) over(method string, most int) bool {
	if !s.limited {
		return false
	}
	now := time.Now()
	var recent []time.Time
	for _, t := range s.called[method] {
		if now.Sub(t) < time.Minute {
			recent = append(recent, t)
		}
	}
	s.called[method] = append(recent, now)
	return len(recent) >= most
}

func (s *Server) startStream(a url.Values) (map[string]any, string) {
	added := a.Get("markdown_text")
	c, no := s.may(a.Get("channel"), a.Get("thread_ts"), added)
	_, known := s.users[a.Get("recipient_user_id")]
	switch {
	case s.over("start", tier2):
		return nil, "ratelimited"
	case s.noStreams:
		return nil, "unknown_method"
	case no != "":
		return nil, no
	case a.Get("thread_ts") == "":
		return nil, "invalid_arguments"
	case utf8.RuneCountInString(added) > mostAdded:
		return nil, "msg_too_long"
	case !c.IM && a.Get("recipient_team_id") == "":
		return nil, "missing_recipient_team_id"
	case !c.IM && !known:
		return nil, "missing_recipient_user_id"
	}
	m := s.made(s.Bot, c, added)
	m.Bot, m.Thread, m.Streaming, m.Streamed = s.BotID, a.Get("thread_ts"), true, true
	s.messages = append(s.messages, m)
	s.tell(c, m, nil)
	return map[string]any{"channel": c.ID, "ts": m.TS}, ""
}

// streaming is a message that grows still.
func (s *Server) streaming(a url.Values) (*Message, string) {
	m, no := s.own(a, "message_not_owned_by_app")
	switch {
	case no != "":
		return nil, no
	case !m.Streaming:
		return nil, "message_not_in_streaming_state"
	case utf8.RuneCountInString(a.Get("markdown_text")) > mostAdded, utf8.RuneCountInString(m.Text+a.Get("markdown_text")) > MostText:
		return nil, "msg_too_long"
	}
	return m, ""
}

func (s *Server) appendStream(a url.Values) (map[string]any, string) {
	if s.over("append", tier4) {
		return nil, "ratelimited"
	}
	m, no := s.streaming(a)
	switch {
	case no != "":
		return nil, no
	case a.Get("markdown_text") == "":
		return nil, "no_text"
	}
	m.Text += a.Get("markdown_text")
	m.Added++
	return map[string]any{"channel": m.Channel, "ts": m.TS}, ""
}

func (s *Server) stopStream(a url.Values) (map[string]any, string) {
	if s.over("stop", tier2) {
		return nil, "ratelimited"
	}
	m, no := s.streaming(a)
	if no != "" {
		return nil, no
	}
	m.Text, m.Streaming = m.Text+a.Get("markdown_text"), false
	return map[string]any{"channel": m.Channel, "ts": m.TS}, ""
}

// inView is the thread that a method of the assistant's view is about.
func (s *Server) inView(a url.Values) string {
	_, no := s.at(a.Get("channel_id"))
	switch {
	case s.over("view", tier3):
		return "ratelimited"
	case s.noView:
		return "not_allowed"
	case no != "":
		return no
	case s.find(a.Get("channel_id"), a.Get("thread_ts")) == nil:
		return "invalid_thread_ts"
	}
	return ""
}

func (s *Server) setStatus(a url.Values) (map[string]any, string) {
	if no := s.inView(a); no != "" {
		return nil, no
	}
	s.views = append(s.views, "status: "+a.Get("status"))
	return nil, ""
}

func (s *Server) setTitle(a url.Values) (map[string]any, string) {
	no := s.inView(a)
	if no == "" && a.Get("title") == "" {
		no = "invalid_arguments"
	}
	if no == "" {
		s.views = append(s.views, "title: "+a.Get("title"))
	}
	return nil, no
}

func (s *Server) setPrompts(a url.Values) (map[string]any, string) {
	var list []struct {
		Title   string `json:"title"`
		Message string `json:"message"`
	}
	no := s.inView(a)
	switch {
	case no != "":
		return nil, no
	case json.Unmarshal([]byte(a.Get("prompts")), &list) != nil, len(list) == 0, len(list) > 4:
		return nil, "invalid_arguments"
	}
	for _, p := range list {
		if strings.TrimSpace(p.Title) == "" || strings.TrimSpace(p.Message) == "" {
			return nil, "invalid_arguments"
		}
	}
	s.views = append(s.views, "prompts: "+strconv.Itoa(len(list)))
	return nil, ""
}

// Views are what the bot set in the assistant's view, in order.
func (s *Server) Views() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.views...)
}

// OpenThread is somebody opening the assistant's view: a thread begins with Slack's own
// words.
func (s *Server) OpenThread(who User) *Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.direct(who.ID)
	m := s.made(s.Bot, c, "New Assistant Thread")
	m.Subtype = "assistant_app_thread"
	s.messages = append(s.messages, m)
	s.tell(c, &Message{}, map[string]any{"type": "assistant_thread_started", "assistant_thread": map[string]any{
		"user_id": who.ID, "channel_id": c.ID, "thread_ts": m.TS, "context": map[string]any{}}})
	return m
}
