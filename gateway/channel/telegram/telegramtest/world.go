package telegramtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

// Chat is a conversation that the bot can reach.
type Chat struct {
	ID      int64
	Type    string // private, group, supergroup, channel
	Title   string
	Forum   bool
	Topics  []int64
	Blocked bool // the person blocked the bot, or it was kicked
}

// Message is one that was sent, by the bot or to it.
type Message struct {
	ID, Thread, ReplyTo int64
	FromBot             bool
	Raw                 string // as sent
	Text                string // without markup
	Entities            []Entity
	ParseMode           string
	NoPreview           bool
	Method              string
	Album               string // the same for the files of one
	File                *File
	FileURL             string
	Reactions           []string
	Edits               int
	At                  time.Time
	Buttons             []Button
	Words               []string // that were shown to who pressed one
	Options             []string // of a poll
	Pinned              bool
	Quiet               bool // it came without a sound
	Public              bool // of a poll: who chose what is seen
}

// File is one that Telegram keeps or that was uploaded.
type File struct {
	Name, MIME string
	Path       string // as getFile says
	Data       []byte
}

// Action is a "typing" and the like.
type Action struct {
	Chat, Thread int64
	Action       string
}

// Person writes to the bot.
type Person struct {
	ID       int64
	Name     string
	Username string
	Bot      bool
}

// AddChat makes a chat known.
func (s *Server) AddChat(c Chat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[c.ID] = &c
}

// AddFile makes a file known to getFile.
func (s *Server) AddFile(id string, f File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[id] = f
}

// Block makes the bot unwelcome in a chat.
func (s *Server) Block(chat int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[chat].Blocked = true
}

// Say lets a person write. extra sets or replaces fields of the message object.
// It returns the message's id.
func (s *Server) Say(chat int64, from Person, text string, extra map[string]any) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chats[chat]
	s.lastID[chat]++
	id := s.lastID[chat]
	m := map[string]any{
		"message_id": id, "date": time.Now().Unix(), "chat": chatObject(c),
	}
	if from.ID != 0 {
		m["from"] = map[string]any{"id": from.ID, "is_bot": from.Bot, "first_name": from.Name, "username": from.Username}
	}
	if text != "" {
		m["text"] = text
		if e := typedEntities(text); len(e) > 0 {
			m["entities"] = e
		}
	}
	maps.Copy(m, extra)
	s.messages[chat] = append(s.messages[chat], &Message{ID: id, Text: text, At: time.Now()})
	kind := "message"
	if c.Type == "channel" {
		kind = "channel_post"
	}
	s.queue(map[string]any{kind: m})
	return id
}

// Push queues an update as it is, without its number.
func (s *Server) Push(u map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue(u)
}

func (s *Server) queue(u map[string]any) {
	s.nextUpd++
	u = maps.Clone(u)
	if _, ok := u["update_id"]; !ok {
		u["update_id"] = s.nextUpd
	}
	s.updates = append(s.updates, update{id: s.nextUpd, body: u})
	s.changed()
}

func chatObject(c *Chat) map[string]any {
	o := map[string]any{"id": c.ID, "type": c.Type}
	if c.Type == "private" {
		o["first_name"] = c.Title
	} else {
		o["title"] = c.Title
	}
	if c.Forum {
		o["is_forum"] = true
	}
	return o
}

// typedEntities marks @names and /commands as Telegram does.
func typedEntities(text string) (out []map[string]any) {
	offset := 0
	for _, word := range strings.SplitAfter(text, " ") {
		length := len(utf16.Encode([]rune(strings.TrimRight(word, " .,!?\n"))))
		switch {
		case strings.HasPrefix(word, "@") && length > 1:
			out = append(out, map[string]any{"type": "mention", "offset": offset, "length": length})
		case strings.HasPrefix(word, "/") && length > 1:
			out = append(out, map[string]any{"type": "bot_command", "offset": offset, "length": length})
		}
		offset += len(utf16.Encode([]rune(word)))
	}
	return out
}

// Sent are the messages of the bot in a chat.
func (s *Server) Sent(chat int64) (out []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages[chat] {
		if m.FromBot {
			out = append(out, *m)
		}
	}
	return out
}

// Message finds one by its id.
func (s *Server) Message(chat, id int64) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.find(chat, id); m != nil {
		return *m, true
	}
	return Message{}, false
}

func (s *Server) find(chat, id int64) *Message {
	for _, m := range s.messages[chat] {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// Actions are the signs that the bot gave.
func (s *Server) Actions() []Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.actions)
}

// Calls counts the calls of a method, failed ones too.
func (s *Server) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// Requests are all calls of a method.
func (s *Server) Requests(method string) (out []Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r.Method == method {
			out = append(out, r)
		}
	}
	return out
}

// Pending is how many updates were not confirmed.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.updates)
}

// SetWebhook is what somebody else with the token does.
func (s *Server) SetWebhook(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hookURL = url
}

// Webhook is the address that is set.
func (s *Server) Webhook() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hookURL
}

// Post delivers all waiting updates to a webhook's handler, as Telegram does:
// the next one only after a 2xx. It returns the last status, 0 without updates.
func (s *Server) Post(post func(secret string, body []byte) int) int {
	status := 0
	for {
		s.mu.Lock()
		if len(s.updates) == 0 {
			s.mu.Unlock()
			return status
		}
		u, key := s.updates[0], s.hookKey
		s.mu.Unlock()
		b, err := json.Marshal(u.body)
		if err != nil {
			panic(fmt.Sprintf("an update of a test is not JSON: %v", err))
		}
		if status = post(key, b); status/100 != 2 {
			return status
		}
		s.mu.Lock()
		s.updates = s.updates[1:]
		s.mu.Unlock()
	}
}

func (s *Server) serveFile(w http.ResponseWriter, r *http.Request, p string) {
	token, name, _ := strings.Cut(p, "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls["file"]++
	if token == s.token && r.Method == http.MethodGet {
		for _, f := range s.files {
			if f.Path == name && path.Clean(name) == name {
				_, _ = w.Write(f.Data)
				return
			}
		}
	}
	write(w, nil, &refusal{code: http.StatusNotFound, text: "Not Found"})
}
