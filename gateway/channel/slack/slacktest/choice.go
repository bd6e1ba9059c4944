package slacktest

import (
	"encoding/json"
	"net/url"
	"strconv"
	"unicode/utf8"
)

// Block is a part of a message.
type Block struct {
	Kind     string   `json:"type"`
	Text     *Words   `json:"text,omitempty"`
	Elements []Button `json:"elements,omitempty"`
}

// Words are a text of a block.
type Words struct {
	Kind     string `json:"type"`
	Text     string `json:"text"`
	Verbatim bool   `json:"verbatim,omitempty"`
}

// Button is one.
type Button struct {
	Kind   string `json:"type"`
	Text   Words  `json:"text"`
	Action string `json:"action_id"`
	Value  string `json:"value"`
	Style  string `json:"style,omitempty"`
}

// Buttons are those of a message.
func (m Message) Buttons() (out []Button) {
	for _, b := range m.Blocks {
		out = append(out, b.Elements...)
	}
	return out
}

func blocksOf(a url.Values) (out []Block, no string) {
	if !a.Has("blocks") {
		return nil, ""
	}
	if json.Unmarshal([]byte(a.Get("blocks")), &out) != nil || len(out) > 50 {
		return nil, "invalid_blocks_format"
	}
	for _, b := range out {
		seen := map[string]bool{}
		switch {
		case b.Kind == "section" && b.Text != nil && b.Text.Kind == "mrkdwn" && b.Text.Text != "" && utf8.RuneCountInString(b.Text.Text) <= 3000:
		case b.Kind == "actions" && len(b.Elements) > 0 && len(b.Elements) <= 25:
			for _, e := range b.Elements {
				if e.Kind != "button" || e.Text.Kind != "plain_text" || e.Text.Text == "" || utf8.RuneCountInString(e.Text.Text) > 75 ||
					len(e.Action) > 255 || len(e.Value) > 2000 || seen[e.Action] || e.Style != "" && e.Style != "primary" && e.Style != "danger" {
					return nil, "invalid_blocks"
				}
				seen[e.Action] = true
			}
		default:
			return nil, "invalid_blocks"
		}
	}
	return out, ""
}

// Press is somebody pressing a button, or sending what none has.
func (s *Server) Press(who User, ts, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.TS != ts {
			continue
		}
		s.pressed = m
		box := map[string]any{"type": "message", "message_ts": m.TS, "channel_id": m.Channel, "is_ephemeral": false}
		if m.Thread != "" {
			box["thread_ts"] = m.Thread
		}
		s.use("interactive", map[string]any{
			"type": "block_actions", "user": map[string]any{"id": who.ID, "username": who.Name, "team_id": "T000000001"},
			"channel": map[string]any{"id": m.Channel, "name": "x"}, "container": box, "message": m, "trigger_id": "t" + s.ticket(),
			"actions": []any{map[string]any{"type": "button", "action_id": value, "block_id": "b", "value": value, "action_ts": s.ts()}},
		})
	}
}

// Command is somebody using the app's command.
func (s *Server) Command(who User, c *Channel, command, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use("slash_commands", map[string]any{"command": command, "text": text, "user_id": who.ID, "user_name": who.Name, "channel_id": c.ID,
		"trigger_id": "t" + s.ticket(), "is_enterprise_install": "false"})
}

func (s *Server) use(kind string, payload map[string]any) {
	s.count++
	e := &envelope{id: "env-" + strconv.Itoa(s.count), kind: kind, other: payload}
	s.waiting = append(s.waiting, e)
	for k := range s.sockets {
		k.envelope(e)
		break
	}
}

// React is somebody putting an emoji on a message, or taking it away.
func (s *Server) React(who User, ts, name string, removed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.TS != ts {
			continue
		}
		kind := "reaction_added"
		if removed {
			kind = "reaction_removed"
		}
		s.count++
		e := &envelope{id: "env-" + strconv.Itoa(s.count), event: map[string]any{
			"type": kind, "user": who.ID, "reaction": name, "item_user": m.User, "event_ts": s.ts(),
			"item": map[string]any{"type": "message", "channel": m.Channel, "ts": m.TS},
		}}
		s.waiting = append(s.waiting, e)
		for k := range s.sockets {
			k.envelope(e)
			break
		}
	}
}

func (s *Server) ephemeral(a url.Values) (map[string]any, string) {
	c, no := s.may(a.Get("channel"), "", a.Get("text"))
	switch {
	case no != "":
		return nil, no
	case a.Get("text") == "":
		return nil, "no_text"
	case s.users[a.Get("user")].ID == "" || c.IM && c.User != a.Get("user"):
		return nil, "user_not_in_channel"
	}
	if s.pressed != nil {
		s.pressed.Words = append(s.pressed.Words, a.Get("text"))
	}
	return map[string]any{"message_ts": s.ts()}, ""
}

func (s *Server) pin(a url.Values) (map[string]any, string) {
	m, no := s.reacted(a)
	switch {
	case no != "":
		return nil, no
	case m.Pinned:
		return nil, "already_pinned"
	}
	m.Pinned = true
	return nil, ""
}

func (s *Server) unpin(a url.Values) (map[string]any, string) {
	m, no := s.reacted(a)
	switch {
	case no != "":
		return nil, no
	case !m.Pinned:
		return nil, "no_pin"
	}
	m.Pinned = false
	return nil, ""
}

// replies is a thread from its beginning.
func (s *Server) replies(a url.Values) (map[string]any, string) {
	c, no := s.at(a.Get("channel"))
	if no != "" {
		return nil, no
	}
	out := []*Message{}
	for _, m := range s.messages {
		in := m.TS == a.Get("ts") || m.Thread == a.Get("ts")
		if m.Channel == c.ID && !m.Deleted && in && (a.Get("latest") == "" || m.TS < a.Get("latest")) {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return nil, "thread_not_found"
	}
	return map[string]any{"messages": out, "has_more": false}, ""
}
