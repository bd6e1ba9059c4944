package telegramtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Button is one below a message.
type Button struct{ Label, Data string }

// buttonsOf checks and reads a keyboard; the lock is held.
func buttonsOf(p map[string]any) (out []Button, err error) {
	markup := object(p, "reply_markup")
	if markup == nil {
		return nil, nil
	}
	rows, ok := markup["inline_keyboard"].([]any)
	if !ok {
		return nil, bad("object expected as reply markup")
	}
	for _, row := range rows {
		list, ok := row.([]any)
		if !ok || len(list) > 8 {
			return nil, bad("field \"inline_keyboard\" must be an Array of Arrays")
		}
		for _, b := range list {
			o, _ := b.(map[string]any)
			label, data := str(o, "text"), str(o, "callback_data")
			if label == "" {
				return nil, bad("can't parse inline keyboard button: text can't be empty")
			}
			if data == "" || len(data) > 64 {
				return nil, bad("BUTTON_DATA_INVALID")
			}
			out = append(out, Button{label, data})
		}
	}
	if len(out) > 100 {
		return nil, bad("reply markup is too long")
	}
	return out, nil
}

// Press lets a person press a button; data need not be that of one, as a client of
// somebody who means harm can send anything. It returns the id of the press.
func (s *Server) Press(chat int64, from Person, message int64, data string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := fmt.Sprintf("cb%d", len(s.presses)+1)
	s.presses[id] = pressed{message: message, chat: chat}
	m := map[string]any{"message_id": message, "date": time.Now().Unix(), "chat": chatObject(s.chats[chat]),
		"from": map[string]any{"id": BotID, "is_bot": true, "username": BotName}}
	if old := s.find(chat, message); old != nil {
		m["text"] = old.Text
	}
	s.queue(map[string]any{"callback_query": map[string]any{
		"id": id, "chat_instance": "1", "data": data, "message": m,
		"from": map[string]any{"id": from.ID, "is_bot": from.Bot, "first_name": from.Name, "username": from.Username},
	}})
	return id
}

type pressed struct {
	chat, message int64
	answered      bool
	words         string
}

// Said are the words that a press was answered with; ok is false before it was.
func (s *Server) Said(press string) (words string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.presses[press].words, s.presses[press].answered
}

func (s *Server) answerCallback(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := str(p, "callback_query_id")
	q, ok := s.presses[id]
	if !ok || q.answered {
		return nil, bad("query is too old and response timeout expired or query ID is invalid")
	}
	q.answered, q.words = true, str(p, "text")
	if units(q.words) > 200 {
		return nil, bad("MESSAGE_TOO_LONG")
	}
	s.presses[id] = q
	if m := s.find(q.chat, q.message); m != nil && q.words != "" {
		m.Words = append(m.Words, q.words)
	}
	s.changed()
	return true, nil
}

// React lets a person put emoji on a message, or change those that they put.
func (s *Server) React(chat int64, from Person, message int64, emoji ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := func(all []string) []any {
		out := []any{}
		for _, e := range all {
			out = append(out, map[string]any{"type": "emoji", "emoji": e})
		}
		return out
	}
	key := fmt.Sprint(chat, " ", message, " ", from.ID)
	old := s.reacted[key]
	s.reacted[key] = slices.Clone(emoji)
	s.queue(map[string]any{"message_reaction": map[string]any{
		"chat": chatObject(s.chats[chat]), "message_id": message, "date": time.Now().Unix(),
		"user":         map[string]any{"id": from.ID, "is_bot": from.Bot, "first_name": from.Name, "username": from.Username},
		"old_reaction": list(old), "new_reaction": list(emoji),
	}})
}

func (s *Server) poll(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var options []string
	list, _ := p["options"].([]any)
	for _, o := range list {
		e, _ := o.(map[string]any)
		text := str(e, "text")
		if text == "" || units(text) > 100 {
			return nil, bad("poll options length must not exceed 100")
		}
		options = append(options, text)
	}
	switch q := str(p, "question"); {
	case strings.TrimSpace(q) == "":
		return nil, bad("poll question must be non-empty")
	case units(q) > 300:
		return nil, bad("poll question length must not exceed 300")
	case len(options) < 2:
		return nil, bad("poll must have at least 2 option")
	case len(options) > 12:
		return nil, bad("poll can't have more than 12 options")
	}
	anonymous, said := p["is_anonymous"].(bool)
	if p["is_anonymous"] != nil && !said {
		return nil, bad("can't parse is_anonymous")
	}
	return s.post("sendPoll", p, "question", 300, &Message{Options: options, Public: said && !anonymous})
}

func (s *Server) pin(p map[string]any, on bool) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, _, err := s.chat(p, false)
	if err != nil {
		return nil, err
	}
	m := s.find(c.ID, num(p, "message_id"))
	if m == nil {
		return nil, bad("message to pin not found")
	}
	m.Pinned = on
	return true, nil
}

// commandName tells what a menu's commands may be called.
func commandName(s string) bool {
	return len(s) >= 1 && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Command is an entry of the menu.
type Command struct{ Name, Description string }

func (s *Server) setCommands(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, _ := p["commands"].([]any)
	if len(list) > 100 {
		return nil, bad("BOT_COMMANDS_TOO_MUCH")
	}
	var out []Command
	for _, e := range list {
		o, _ := e.(map[string]any)
		c := Command{str(o, "command"), str(o, "description")}
		if !commandName(c.Name) {
			return nil, bad("BOT_COMMAND_INVALID")
		}
		if n := units(c.Description); n < 1 || n > 256 {
			return nil, bad("BOT_COMMAND_DESCRIPTION_INVALID")
		}
		out = append(out, c)
	}
	s.menu[str(p, "language_code")] = out
	s.changed()
	return true, nil
}

func (s *Server) deleteCommands(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.menu, str(p, "language_code"))
	s.changed()
	return true, nil
}

// Menu is the list of commands that people see who use a language, "" for all others.
func (s *Server) Menu(language string) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own, ok := s.menu[language]; ok {
		return slices.Clone(own)
	}
	return slices.Clone(s.menu[""])
}
