package telegramtest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var errTakenOver = errors.New("another poll began")

func (s *Server) dispatch(ctx context.Context, method string, p map[string]any) (any, error) {
	s.mu.Lock()
	p, err := s.business(method, p)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	switch method {
	case "sendMediaGroup":
		return s.sendAlbum(p)
	case "getBusinessConnection":
		return s.getConnection(p)
	case "deleteBusinessMessages":
		return s.deleteBusiness(p)
	case "getMe":
		return map[string]any{"id": BotID, "is_bot": true, "first_name": "Hearth", "username": BotName}, nil
	case "getUpdates":
		return s.getUpdates(ctx, p)
	case "sendMessage":
		return s.sendMessage(p)
	case "sendPhoto", "sendDocument", "sendVoice", "sendAudio", "sendVideo", "sendAnimation":
		return s.sendFile(method, p)
	case "editMessageText":
		return s.edit(p)
	case "deleteMessage":
		return s.remove(p)
	case "sendChatAction":
		return s.action(p)
	case "setMessageReaction":
		return s.react(p)
	case "getFile":
		return s.getFile(p)
	case "answerCallbackQuery":
		return s.answerCallback(p)
	case "sendPoll":
		return s.poll(p)
	case "pinChatMessage", "unpinChatMessage":
		return s.pin(p, method == "pinChatMessage")
	case "setMyCommands":
		return s.setCommands(p)
	case "deleteMyCommands":
		return s.deleteCommands(p)
	case "setWebhook":
		return s.setWebhook(p)
	case "deleteWebhook":
		return s.deleteWebhook(p)
	case "getWebhookInfo":
		s.mu.Lock()
		defer s.mu.Unlock()
		return map[string]any{"url": s.hookURL, "has_custom_certificate": false, "pending_update_count": len(s.updates)}, nil
	}
	return nil, &refusal{code: http.StatusNotFound, text: "Not Found: method not found"}
}

// getUpdates confirms what is before the offset, and ends a poll that waits.
func (s *Server) getUpdates(ctx context.Context, p map[string]any) (any, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.mu.Lock()
	if s.hookURL != "" {
		s.mu.Unlock()
		return nil, &refusal{code: http.StatusConflict, text: "Conflict: can't use getUpdates method while webhook is active; use " +
			"deleteWebhook to delete the webhook first"}
	}
	if s.poller != nil {
		s.poller(errTakenOver)
	}
	s.poller = cancel
	if _, ok := p["allowed_updates"]; ok {
		s.allowed = stringsOf(p["allowed_updates"])
	}
	if offset := num(p, "offset"); offset > 0 {
		s.updates = slices.DeleteFunc(s.updates, func(u update) bool { return u.id < offset })
	}
	s.mu.Unlock()
	limit := int(num(p, "limit"))
	if limit < 1 || limit > 100 {
		limit = 100
	}
	deadline := time.NewTimer(time.Duration(num(p, "timeout")) * time.Second)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		page, wake, deaf, revoked := s.page(limit), s.wake, s.deaf, s.revoked
		s.mu.Unlock()
		var late <-chan time.Time
		if !deaf {
			late = deadline.C
		}
		switch {
		case revoked:
			return nil, &refusal{code: http.StatusUnauthorized, text: "Unauthorized"}
		case len(page) > 0 && !deaf:
			return page, nil
		}
		select {
		case <-wake:
		case <-late:
			return []any{}, nil
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errTakenOver) {
				return nil, &refusal{code: http.StatusConflict, text: "Conflict: terminated by other getUpdates request; make sure that only one " +
					"bot instance is running"}
			}
			return nil, ctx.Err()
		}
	}
}

func (s *Server) page(limit int) []any {
	out := []any{}
	for _, u := range s.updates {
		wanted := len(s.allowed) == 0
		for k := range u.body {
			wanted = wanted || slices.Contains(s.allowed, k)
		}
		if wanted && len(out) < limit {
			out = append(out, u.body)
		}
	}
	return out
}

func stringsOf(v any) (out []string) {
	if list, ok := v.([]any); ok {
		for _, e := range list {
			if t, ok := e.(string); ok {
				out = append(out, t)
			}
		}
	}
	return out
}

// chat checks the target of a method that sends; the lock is held.
func (s *Server) chat(p map[string]any, sending bool) (*Chat, int64, error) {
	id := str(p, "chat_id")
	if id == "" {
		return nil, 0, bad("chat_id is empty")
	}
	c := s.chats[num(p, "chat_id")]
	if c == nil {
		return nil, 0, bad("chat not found")
	}
	if c.Blocked {
		text := "Forbidden: bot was kicked from the " + c.Type + " chat"
		if c.Type == "private" {
			text = "Forbidden: bot was blocked by the user"
		}
		return nil, 0, &refusal{code: http.StatusForbidden, text: text}
	}
	thread := num(p, "message_thread_id")
	if thread != 0 && (!c.Forum || sending && thread == 1 || thread != 1 && !slices.Contains(c.Topics, thread)) {
		return nil, 0, bad("message thread not found")
	}
	return c, thread, nil
}

// text checks and reads a text or caption.
func formatted(p map[string]any, key string, limit int) (plain string, entities []Entity, err error) {
	raw := str(p, key)
	switch mode := str(p, "parse_mode"); mode {
	case "":
		plain = raw
	case "HTML":
		if plain, entities, err = ParseHTML(raw); err != nil {
			return "", nil, err
		}
	default:
		return "", nil, bad("unsupported parse_mode")
	}
	if strings.TrimSpace(plain) == "" && key == "text" {
		return "", nil, bad("message text is empty")
	}
	if units(strings.TrimSpace(plain)) > limit {
		if key == "text" {
			return "", nil, bad("message is too long")
		}
		return "", nil, bad("message caption is too long")
	}
	return plain, entities, nil
}

func (s *Server) sendMessage(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	buttons, err := buttonsOf(p)
	if err != nil {
		return nil, err
	}
	return s.post("sendMessage", p, "text", 4096, &Message{
		NoPreview: object(p, "link_preview_options")["is_disabled"] == true, Buttons: buttons,
	})
}

// post puts a message of the bot into a chat; the lock is held.
func (s *Server) post(method string, p map[string]any, textKey string, limit int, m *Message) (any, error) {
	c, thread, err := s.chat(p, true)
	if err != nil {
		return nil, err
	}
	plain, entities, err := formatted(p, textKey, limit)
	if err != nil {
		return nil, err
	}
	if r := object(p, "reply_parameters"); r != nil {
		m.ReplyTo = num(r, "message_id")
		if s.find(c.ID, m.ReplyTo) == nil {
			if allowed := r["allow_sending_without_reply"]; allowed != true {
				return nil, bad("message to be replied not found")
			}
			m.ReplyTo = 0
		}
	}
	if after := s.overRate(c.ID); after > 0 {
		return nil, &refusal{code: http.StatusTooManyRequests, text: "Too Many Requests: retry after " + strconv.Itoa(after), retryAfter: after}
	}
	switch quiet := p["disable_notification"]; quiet {
	case nil, false, "false":
	case true, "true":
		m.Quiet = true
	default:
		return nil, bad("can't parse disable_notification")
	}
	s.lastID[c.ID]++
	m.ID, m.Thread, m.FromBot, m.Method = s.lastID[c.ID], thread, true, method
	m.Raw, m.Text, m.Entities, m.ParseMode, m.At = str(p, textKey), plain, entities, str(p, "parse_mode"), time.Now()
	s.messages[c.ID] = append(s.messages[c.ID], m)
	s.changed()
	return map[string]any{
		"message_id": m.ID, "date": m.At.Unix(), "chat": chatObject(c), "text": plain,
		"from": map[string]any{"id": BotID, "is_bot": true, "username": BotName},
	}, nil
}

func (s *Server) sendFile(method string, p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	field := strings.ToLower(strings.TrimPrefix(method, "send"))
	m := &Message{}
	switch f := p[field].(type) {
	case File:
		if err := upload(field, f); err != nil {
			return nil, err
		}
		m.File = &f
	case string:
		if kept, ok := s.files[f]; ok { // one that Telegram has already
			m.File = &kept
			break
		}
		u, err := url.Parse(f)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			return nil, bad("wrong remote file identifier specified: Wrong character in the string")
		}
		m.FileURL = f
	default:
		return nil, bad("there is no %s in the request", field)
	}
	return s.post(method, p, "caption", 1024, m)
}

func (s *Server) edit(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, _, err := s.chat(p, false)
	if err != nil {
		return nil, err
	}
	m := s.find(c.ID, num(p, "message_id"))
	switch {
	case m == nil:
		return nil, bad("message to edit not found")
	case !m.FromBot:
		return nil, bad("message can't be edited")
	case m.Method != "sendMessage":
		return nil, bad("there is no text in the message to edit")
	}
	plain, entities, err := formatted(p, "text", 4096)
	if err != nil {
		return nil, err
	}
	buttons, err := buttonsOf(p)
	if err != nil {
		return nil, err
	}
	if plain == m.Text && slices.Equal(entities, m.Entities) && slices.Equal(buttons, m.Buttons) {
		return nil, bad("message is not modified: specified new message content and reply markup are exactly the same as a current content " +
			"and reply markup of the message")
	}
	if after := s.overRate(c.ID); after > 0 {
		return nil, &refusal{code: http.StatusTooManyRequests, text: "Too Many Requests: retry after " + strconv.Itoa(after), retryAfter: after}
	}
	m.Buttons = buttons // an edit without a keyboard takes it away
	m.Raw, m.Text, m.Entities, m.ParseMode = str(p, "text"), plain, entities, str(p, "parse_mode")
	m.NoPreview = object(p, "link_preview_options")["is_disabled"] == true
	m.Edits++
	return map[string]any{"message_id": m.ID, "date": m.At.Unix(), "chat": chatObject(c), "text": plain}, nil
}

func (s *Server) remove(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, _, err := s.chat(p, false)
	if err != nil {
		return nil, err
	}
	m := s.find(c.ID, num(p, "message_id"))
	if m == nil {
		return nil, bad("message to delete not found")
	}
	if time.Since(m.At) > 48*time.Hour {
		return nil, bad("message can't be deleted for everyone")
	}
	s.messages[c.ID] = slices.DeleteFunc(s.messages[c.ID], func(x *Message) bool { return x == m })
	return true, nil
}

func (s *Server) action(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, thread, err := s.chat(p, false)
	if err != nil {
		return nil, err
	}
	if a := str(p, "action"); a != "typing" && !strings.HasPrefix(a, "upload_") {
		return nil, bad("wrong parameter action in request")
	}
	s.actions = append(s.actions, Action{Chat: c.ID, Thread: thread, Action: str(p, "action")})
	return true, nil
}

// reactions are some of those that Telegram allows.
const reactions = "👍👎❤🔥🥰👏😁🤔🤯😱🤬😢🎉🤩🤮💩🙏👌🕊🤡🥱🥴😍🐳🌚🌭💯🤣⚡🍌🏆💔🤨😐🍓🍾💋😈😴😭🤓👻👀🎃🙈😇😨🤝✍🤗🫡🎅🎄☃💅🤪🗿🆒💘🙉🦄😘💊🙊😎👾😡"

func (s *Server) react(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, _, err := s.chat(p, false)
	if err != nil {
		return nil, err
	}
	m := s.find(c.ID, num(p, "message_id"))
	if m == nil {
		return nil, bad("message to react not found")
	}
	list, _ := p["reaction"].([]any)
	if len(list) > 1 {
		return nil, bad("REACTIONS_TOO_MANY")
	}
	m.Reactions = nil
	for _, r := range list {
		o, _ := r.(map[string]any)
		e := str(o, "emoji")
		if str(o, "type") != "emoji" || e == "" || !strings.Contains(reactions, e) {
			return nil, bad("REACTION_INVALID")
		}
		m.Reactions = append(m.Reactions, e)
	}
	return true, nil
}

func (s *Server) getFile(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.files[str(p, "file_id")]
	if !ok {
		return nil, bad("wrong file_id or the file is temporarily unavailable")
	}
	if len(f.Data) > 20<<20 {
		return nil, bad("file is too big")
	}
	return map[string]any{"file_id": str(p, "file_id"), "file_size": len(f.Data), "file_path": f.Path}, nil
}

var hookSecret = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

func (s *Server) setWebhook(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.HasPrefix(str(p, "url"), "https://") {
		return nil, bad("bad webhook: An HTTPS URL must be provided for webhook")
	}
	if k := str(p, "secret_token"); k != "" && !hookSecret.MatchString(k) {
		return nil, bad("secret token contains unallowed characters")
	}
	s.hookURL, s.hookKey = str(p, "url"), str(p, "secret_token")
	s.allowed = stringsOf(p["allowed_updates"])
	s.changed()
	return true, nil
}

func (s *Server) deleteWebhook(p map[string]any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hookURL, s.hookKey = "", ""
	if drop, _ := p["drop_pending_updates"].(bool); drop {
		s.updates = nil
	}
	return true, nil
}
