package signaltest

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// dayMillis is how long programs take edits and deletes of a message.
const dayMillis = 24 * 60 * 60 * 1000

// only refuses parameters that a method does not have: signal-cli would leave them
// without a word.
func only(params map[string]any, names ...string) *refusal {
	for name := range params {
		if !slices.Contains(names, name) {
			return &refusal{code: badParams, words: "unknown parameter " + name}
		}
	}
	return nil
}

// list reads a parameter that is one text or several.
func list(v any) (out []string, ok bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, true
	case []any:
		for _, one := range v {
			s, ok := one.(string)
			if !ok {
				return nil, false
			}
			out = append(out, s)
		}
		return out, true
	}
	return nil, false
}

func number(v any) (int64, bool) {
	n, ok := v.(float64)
	return int64(n), ok
}

// to finds the recipient: one person or one group.
func (s *Server) to(params map[string]any) (string, *refusal) {
	people, ok := list(params["recipient"])
	group, isGroup := params["groupId"].(string)
	switch {
	case !ok || len(people) > 1 || len(people) == 1 && isGroup:
		return "", &refusal{code: badParams, words: "recipient and groupId"}
	case isGroup && s.groups[group] == "":
		return "", &refusal{code: userError, words: "Group not found: " + group}
	case isGroup:
		return group, nil
	case len(people) == 0:
		return "", &refusal{code: userError, words: "No recipients given"}
	}
	for _, p := range s.people {
		if p.UUID == people[0] || p.Number == people[0] && p.Number != "" {
			return p.UUID, nil
		}
	}
	return "", &refusal{code: userError, words: "The user " + people[0] + " is not registered."}
}

func (s *Server) send(params map[string]any) (any, *refusal) {
	if r := only(params, "recipient", "groupId", "message", "attachment", "textStyle", "quoteTimestamp", "quoteAuthor", "quoteMessage",
		"editTimestamp"); r != nil {
		return nil, r
	}
	to, r := s.to(params)
	if r != nil {
		return nil, r
	}
	m := &Message{To: to}
	m.Text, _ = params["message"].(string)
	if m.Styles, r = styles(params, m.Text); r != nil {
		return nil, r
	}
	if m.Files, r = attached(params); r != nil {
		return nil, r
	}
	if strings.TrimSpace(m.Text) == "" && len(m.Files) == 0 {
		return nil, &refusal{code: userError, words: "Sending empty message is not allowed"}
	}
	if m.Quote, r = s.quoted(params); r != nil {
		return nil, r
	}
	m.At = s.tick()
	m.Newest = m.At
	if target, edits := number(params["editTimestamp"]); edits {
		was := s.ours(target, to, func(m *Message) int64 { return m.Newest })
		if was == nil || was.Edits >= 10 || m.At-was.At > dayMillis { // programs of the others leave such an edit out: a test sees it here
			return nil, &refusal{code: userError, words: "nobody would show this edit"}
		}
		was.Text, was.Styles, was.Newest, was.Edits = m.Text, m.Styles, m.At, was.Edits+1
	} else {
		s.sent = append(s.sent, m)
	}
	result := map[string]any{"recipientAddress": map[string]any{"uuid": to}, "type": "SUCCESS"}
	return map[string]any{"timestamp": m.At, "results": []any{result}}, nil
}

// ours is a message of ours in a conversation by one of its times.
func (s *Server) ours(at int64, to string, which func(*Message) int64) *Message {
	for _, m := range s.sent {
		if which(m) == at && m.To == to && !m.Deleted {
			return m
		}
	}
	return nil
}

var style = regexp.MustCompile(`^(\d+):(\d+):(BOLD|ITALIC|SPOILER|STRIKETHROUGH|MONOSPACE)$`)

func styles(params map[string]any, text string) (out []Style, r *refusal) {
	all, ok := list(params["textStyle"])
	if !ok {
		return nil, &refusal{code: badParams, words: "textStyle"}
	}
	units := len(utf16.Encode([]rune(text)))
	for _, one := range all {
		m := style.FindStringSubmatch(one)
		if m == nil {
			return nil, &refusal{code: userError, words: "Invalid textStyle syntax (" + one + ")"}
		}
		start, _ := strconv.Atoi(m[1])
		length, _ := strconv.Atoi(m[2])
		if length == 0 || start+length > units {
			return nil, &refusal{code: userError, words: "textStyle outside of the message: " + one}
		}
		out = append(out, Style{start, length, m[3]})
	}
	return out, nil
}

var dataURI = regexp.MustCompile(`^data:([^;,/]+/[^;,]+)(?:;filename=([^;,]*))?;base64,(.+)$`)

func attached(params map[string]any) (out []File, r *refusal) {
	all, ok := list(params["attachment"])
	if !ok {
		return nil, &refusal{code: badParams, words: "attachment"}
	}
	for _, one := range all {
		m := dataURI.FindStringSubmatch(one)
		if m == nil {
			return nil, &refusal{code: unspecified, words: "Failed to send message: no such file (AttachmentInvalidException)"}
		}
		name, err := url.QueryUnescape(m[2])
		data, err2 := base64.StdEncoding.DecodeString(m[3])
		if err != nil || err2 != nil || len(data) > 100<<20 {
			return nil, &refusal{code: unspecified, words: "Failed to send message: bad data (AttachmentInvalidException)"}
		}
		out = append(out, File{Name: name, MIME: m[1], Data: data})
	}
	return out, nil
}

func (s *Server) quoted(params map[string]any) (*Quote, *refusal) {
	at, quotes := number(params["quoteTimestamp"])
	if !quotes {
		return nil, nil
	}
	q := &Quote{At: at}
	q.Author, _ = params["quoteAuthor"].(string)
	q.Text, _ = params["quoteMessage"].(string)
	if r := s.written(at, q.Author); r != nil || q.Text == "" {
		return nil, &refusal{code: userError, words: "no such message to quote"}
	}
	return q, nil
}

// written refuses a message that nobody wrote.
func (s *Server) written(at int64, author string) *refusal {
	if author == Number || author == Self {
		if slices.ContainsFunc(s.sent, func(m *Message) bool { return m.At == at }) {
			return nil
		}
	} else if s.heard[fmt.Sprint(at, author)] {
		return nil
	}
	return &refusal{code: userError, words: "no such message"}
}

func (s *Server) react(params map[string]any) (any, *refusal) {
	if r := only(params, "recipient", "groupId", "emoji", "targetAuthor", "targetTimestamp", "remove"); r != nil {
		return nil, r
	}
	to, r := s.to(params)
	if r != nil {
		return nil, r
	}
	emoji, _ := params["emoji"].(string)
	author, _ := params["targetAuthor"].(string)
	at, _ := number(params["targetTimestamp"])
	if emoji == "" {
		return nil, &refusal{code: userError, words: "emoji is required"}
	}
	if r := s.written(at, author); r != nil {
		return nil, r
	}
	if m := s.ours(at, to, func(m *Message) int64 { return m.At }); m != nil {
		if params["remove"] == true {
			m.Reactions = slices.DeleteFunc(m.Reactions, func(e string) bool { return e == emoji })
		} else {
			m.Reactions = []string{emoji}
		}
	}
	return map[string]any{"timestamp": s.tick()}, nil
}

func (s *Server) remove(params map[string]any) (any, *refusal) {
	if r := only(params, "recipient", "groupId", "targetTimestamp"); r != nil {
		return nil, r
	}
	to, r := s.to(params)
	if r != nil {
		return nil, r
	}
	at, _ := number(params["targetTimestamp"])
	m := s.ours(at, to, func(m *Message) int64 { return m.At })
	if m == nil {
		return nil, &refusal{code: userError, words: "no such message"}
	}
	m.Deleted = true
	return map[string]any{"timestamp": s.tick()}, nil
}

func (s *Server) typing(params map[string]any) (any, *refusal) {
	if r := only(params, "recipient", "groupId", "stop"); r != nil {
		return nil, r
	}
	to, r := s.to(params)
	if r != nil {
		return nil, r
	}
	s.typed = append(s.typed, to)
	return map[string]any{}, nil
}

func (s *Server) receipt(params map[string]any) (any, *refusal) {
	if r := only(params, "recipient", "targetTimestamp", "type"); r != nil {
		return nil, r
	}
	to, r := s.to(params)
	if r != nil {
		return nil, r
	}
	at, _ := number(params["targetTimestamp"])
	if r := s.written(at, to); r != nil || params["type"] != "read" {
		return nil, &refusal{code: userError, words: "no such message"}
	}
	s.read = append(s.read, fmt.Sprint(at))
	return map[string]any{}, nil
}

func (s *Server) attachment(params map[string]any) (any, *refusal) {
	if r := only(params, "id", "recipient", "groupId"); r != nil {
		return nil, r
	}
	if _, many := params["recipient"].([]any); many {
		return nil, &refusal{code: badParams, words: "recipient is one"}
	}
	if _, r := s.to(params); r != nil {
		return nil, r
	}
	id, _ := params["id"].(string)
	f, ok := s.files[id]
	if !ok {
		return nil, &refusal{code: userError, words: "Could not find attachment with ID: " + id}
	}
	return map[string]any{"data": base64.StdEncoding.EncodeToString(f.Data)}, nil
}

func (s *Server) status(params map[string]any) (any, *refusal) {
	if r := only(params, "recipient"); r != nil {
		return nil, r
	}
	all, ok := list(params["recipient"])
	if !ok {
		return nil, &refusal{code: badParams, words: "recipient"}
	}
	out := []any{}
	for _, asked := range all {
		one := map[string]any{"recipient": asked, "number": asked, "uuid": nil, "isRegistered": false}
		for _, p := range s.people {
			if p.Number == asked {
				one["uuid"], one["isRegistered"] = p.UUID, true
			}
		}
		out = append(out, one)
	}
	return out, nil
}
