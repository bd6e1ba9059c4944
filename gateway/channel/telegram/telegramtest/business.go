package telegramtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Connection is what a person with Telegram Business lets the bot do.
type Connection struct {
	ID       string
	Owner    Person
	CanReply bool
	Enabled  bool
}

func (c Connection) object() map[string]any {
	return map[string]any{"id": c.ID, "user": personObject(c.Owner), "user_chat_id": c.Owner.ID, "date": time.Now().Unix(),
		"rights": map[string]any{"can_reply": c.CanReply}, "is_enabled": c.Enabled}
}

func personObject(p Person) map[string]any {
	return map[string]any{"id": p.ID, "is_bot": p.Bot, "first_name": p.Name, "username": p.Username}
}

// Connect connects the bot to a person's account, or changes what it may do there; quiet
// tells it nothing.
func (s *Server) Connect(c Connection, quiet bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections[c.ID] = c
	if !quiet {
		s.queue(map[string]any{"business_connection": c.object()})
	}
}

// SayTo lets somebody write in the chat between a person and one of their customers.
func (s *Server) SayTo(connection string, chat int64, from Person, text string, extra map[string]any) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := s.behalf(connection, chat)
	s.lastID[key]++
	id := s.lastID[key]
	m := s.businessMessage(connection, chat, id, from, text)
	maps.Copy(m, extra)
	s.messages[key] = append(s.messages[key], &Message{ID: id, Text: text, At: time.Now()})
	s.heard[key] = time.Now()
	s.queue(map[string]any{"business_message": m})
	return id
}

func (s *Server) businessMessage(connection string, chat, id int64, from Person, text string) map[string]any {
	return map[string]any{"message_id": id, "date": time.Now().Unix(), "business_connection_id": connection, "from": personObject(from),
		"chat": chatObject(s.chats[chat]), "text": text}
}

// ChangeTo edits what SayTo said, DeleteOf deletes it.
func (s *Server) ChangeTo(connection string, chat, id int64, from Person, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue(map[string]any{"edited_business_message": s.businessMessage(connection, chat, id, from, text)})
}

// DeleteOf deletes messages of such a chat.
func (s *Server) DeleteOf(connection string, chat int64, ids ...int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue(map[string]any{"deleted_business_messages": map[string]any{"business_connection_id": connection,
		"chat": chatObject(s.chats[chat]), "message_ids": ids}})
}

// SentFor are the messages that the bot sent in a person's name.
func (s *Server) SentFor(connection string, chat int64) []Message {
	s.mu.Lock()
	key := s.behalf(connection, chat)
	s.mu.Unlock()
	return s.Sent(key)
}

// behalf is the key of such a chat among the bot's own; the lock is held.
func (s *Server) behalf(connection string, chat int64) int64 {
	name := fmt.Sprint(connection, "/", chat)
	if s.behalves[name] == 0 {
		s.behalves[name] = -9_000_000 - int64(len(s.behalves))
		own := *s.chats[chat]
		own.ID = s.behalves[name]
		s.chats[own.ID] = &own
	}
	return s.behalves[name]
}

// business resolves the chat of a request that is made in somebody's name; the lock is
// held.
func (s *Server) business(method string, p map[string]any) (map[string]any, error) {
	id := str(p, "business_connection_id")
	if id == "" || method == "getBusinessConnection" {
		return p, nil
	}
	may := []string{"sendMessage", "sendPhoto", "sendDocument", "sendVoice", "sendAudio", "sendVideo", "sendAnimation", "sendMediaGroup",
		"editMessageText", "sendChatAction", "sendPoll", "pinChatMessage", "unpinChatMessage", "deleteBusinessMessages"}
	c, ok := s.connections[id]
	switch {
	case !slices.Contains(may, method):
		return nil, bad("method can't be used on behalf of a business account")
	case !ok || !c.Enabled:
		return nil, bad("business connection not found")
	case !c.CanReply:
		return nil, &refusal{code: http.StatusForbidden, text: "Forbidden: BOT_ACCESS_FORBIDDEN"}
	case method == "deleteBusinessMessages":
		return p, nil
	case s.chats[num(p, "chat_id")] == nil:
		return nil, bad("chat not found")
	}
	key := s.behalf(id, num(p, "chat_id"))
	if strings.HasPrefix(method, "send") && time.Since(s.heard[key]) > 24*time.Hour {
		return nil, bad("BUSINESS_PEER_USAGE_MISSING")
	}
	p = maps.Clone(p)
	p["chat_id"] = fmt.Sprint(key)
	return p, nil
}

func (s *Server) getConnection(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.connections[str(p, "business_connection_id")]
	if !ok {
		return nil, bad("business connection not found")
	}
	return c.object(), nil
}

func (s *Server) deleteBusiness(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, _ := p["message_ids"].([]any)
	if len(list) == 0 || len(list) > 100 {
		return nil, bad("message identifiers are not specified")
	}
	for name, key := range s.behalves {
		if strings.HasPrefix(name, str(p, "business_connection_id")+"/") {
			s.messages[key] = slices.DeleteFunc(s.messages[key], func(m *Message) bool {
				return slices.ContainsFunc(list, func(id any) bool { return fmt.Sprint(id) == fmt.Sprint(m.ID) })
			})
		}
	}
	return true, nil
}
