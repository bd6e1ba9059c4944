package discordtest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Component is a row of buttons, or one of them.
type Component struct {
	Kind  int         `json:"type"`
	Parts []Component `json:"components,omitempty"`
	Style int         `json:"style,omitempty"`
	Label string      `json:"label,omitempty"`
	Data  string      `json:"custom_id,omitempty"`
}

// Poll is one.
type Poll struct {
	Question struct {
		Text string `json:"text"`
	} `json:"question"`
	Answers []struct {
		Media struct {
			Text string `json:"text"`
		} `json:"poll_media"`
	} `json:"answers"`
	Hours    int  `json:"duration"`
	Multiple bool `json:"allow_multiselect"`
}

// Buttons are those of a message.
func (m Message) Buttons() (out []Component) {
	for _, row := range m.Components {
		out = append(out, row.Parts...)
	}
	return out
}

func fineComponents(rows *[]Component) bool {
	if rows == nil {
		return true
	}
	seen := map[string]bool{}
	for _, row := range *rows {
		if row.Kind != 1 || len(row.Parts) < 1 || len(row.Parts) > 5 {
			return false
		}
		for _, b := range row.Parts {
			if b.Kind != 2 || b.Style < 1 || b.Style > 4 || b.Label == "" || length(b.Label) > 80 || b.Data == "" || len(b.Data) > 100 ||
				seen[b.Data] {
				return false
			}
			seen[b.Data] = true
		}
	}
	return len(*rows) <= 5
}

func finePoll(p *Poll) bool {
	if p == nil {
		return true
	}
	if p.Question.Text == "" || length(p.Question.Text) > 300 || len(p.Answers) < 1 || len(p.Answers) > 10 || p.Hours < 1 || p.Hours > 768 {
		return false
	}
	for _, a := range p.Answers {
		if a.Media.Text == "" || length(a.Media.Text) > 55 {
			return false
		}
	}
	return true
}

// between are the messages of a channel that are asked for, the oldest first.
func (s *Server) between(c *Channel, before, after int64, limit int) (out []string) {
	for _, id := range s.order {
		n, _ := strconv.ParseInt(id, 10, 64)
		if m := s.messages[id]; m.Channel == c.ID && !m.Deleted && n > after && (before == 0 || n < before) {
			out = append(out, id)
		}
	}
	switch {
	case len(out) <= limit:
		return out
	case after > 0:
		return out[:limit]
	}
	return out[len(out)-limit:]
}

// pressed is an interaction.
type pressed struct {
	id, message string
	at          time.Time
	answered    int
}

// Press is somebody pressing a button, or sending what none has.
func (s *Server) Press(who User, messageID, data string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.messages[messageID]
	i := s.interaction(who, s.channels[m.Channel], 3)
	s.presses[i["token"].(string)].message = messageID
	i["message"] = m
	i["data"] = map[string]any{"custom_id": data, "component_type": 2}
	s.tell("INTERACTION_CREATE", i)
}

// Command is somebody using a command of the menu.
func (s *Server) Command(who User, c *Channel, name string, args string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.interaction(who, c, 2)
	data := map[string]any{"id": s.id(), "name": name, "type": 1}
	if args != "" {
		data["options"] = []any{map[string]any{"name": "args", "type": 3, "value": args}}
	}
	i["data"] = data
	s.tell("INTERACTION_CREATE", i)
}

func (s *Server) interaction(who User, c *Channel, kind int) map[string]any {
	id := s.id()
	token := "canary-interaction-" + id
	s.presses[token] = &pressed{id: id, at: time.Now()}
	i := map[string]any{"id": id, "application_id": s.Bot.ID, "type": kind, "token": token, "version": 1, "channel_id": c.ID}
	if c.Server != "" {
		i["guild_id"], i["member"] = c.Server, map[string]any{"user": who}
	} else {
		i["user"] = who
	}
	return i
}

type said struct {
	Content  string `json:"content"`
	Flags    int    `json:"flags"`
	Mentions *struct {
		Parse   []string `json:"parse"`
		Replied bool     `json:"replied_user"`
	} `json:"allowed_mentions"`
}

// respond is the first answer to an interaction, within three seconds and once.
func (s *Server) respond(r *http.Request) (any, *no) {
	var in struct {
		Kind int   `json:"type"`
		Data *said `json:"data"`
	}
	p := s.presses[r.PathValue("token")]
	switch {
	case p == nil || p.id != r.PathValue("interaction") || time.Since(p.at) > 3*time.Second:
		return nil, &no{http.StatusNotFound, 10062, "Unknown interaction"}
	case p.answered > 0:
		return nil, &no{http.StatusBadRequest, 40060, "Interaction has already been acknowledged."}
	case !body(r.Body, &in), in.Kind != 4 && in.Kind != 5 && in.Kind != 6, in.Kind == 4 && (in.Data == nil || in.Data.Content == ""):
		return nil, invalid()
	}
	p.answered++
	if in.Data != nil {
		s.hear(p, in.Data)
	}
	return nil, nil
}

func (s *Server) hear(p *pressed, d *said) {
	if m := s.messages[p.message]; m != nil && d.Flags == 64 {
		m.Words = append(m.Words, d.Content)
	}
}

// follow are words after the first answer.
func (s *Server) follow(r *http.Request) (any, *no) {
	p := s.presses[r.PathValue("token")]
	var in said
	switch {
	case p == nil || p.answered == 0 || r.PathValue("application") != s.Bot.ID || time.Since(p.at) > 15*time.Minute:
		return nil, &no{http.StatusNotFound, 10015, "Unknown Webhook"}
	case !body(r.Body, &in), in.Content == "", length(in.Content) > MostText:
		return nil, invalid()
	}
	s.hear(p, &in)
	return map[string]string{"id": s.id()}, nil
}

func (s *Server) pin(r *http.Request) (any, *no) {
	m, err := s.one(r)
	if err != nil {
		return nil, err
	}
	m.Pinned = r.Method == http.MethodPut
	return nil, nil
}

// React is somebody putting an emoji on a message, or taking it away.
func (s *Server) React(who User, messageID, emoji string, removed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.messages[messageID]
	e := map[string]any{"user_id": who.ID, "channel_id": m.Channel, "message_id": m.ID, "emoji": map[string]any{"id": nil, "name": emoji},
		"burst": false, "type": 0}
	if m.Server != "" {
		e["guild_id"] = m.Server
	}
	if removed {
		s.tell("MESSAGE_REACTION_REMOVE", e)
		return
	}
	e["message_author_id"] = m.Author.ID
	if m.Server != "" {
		e["member"] = map[string]any{"user": who}
	}
	s.tell("MESSAGE_REACTION_ADD", e)
}

// Command is an entry of the menu of commands.
type Command struct {
	Kind          int               `json:"type,omitempty"`
	Name          string            `json:"name"`
	Description   string            `json:"description"`
	Localizations map[string]string `json:"description_localizations,omitempty"`
	Options       []struct {
		Kind        int    `json:"type"`
		Name        string `json:"name"`
		Description string `json:"description"`
		Required    bool   `json:"required,omitempty"`
	} `json:"options,omitempty"`
}

func (s *Server) setCommands(r *http.Request) (any, *no) {
	var all []Command
	if r.PathValue("application") != s.Bot.ID || !body(r.Body, &all) || len(all) > 100 {
		return nil, invalid()
	}
	names := map[string]bool{}
	for _, c := range all {
		if n := len(c.Name); n < 1 || n > 32 || c.Name != strings.ToLower(c.Name) || strings.ContainsAny(c.Name, " /:") || names[c.Name] ||
			length(c.Description) < 1 || length(c.Description) > 100 {
			return nil, invalid()
		}
		names[c.Name] = true
		for language, words := range c.Localizations {
			if !slices.Contains([]string{"de", "zh-CN", "zh-TW", "en-US", "en-GB"}, language) || length(words) < 1 || length(words) > 100 {
				return nil, invalid()
			}
		}
		for _, o := range c.Options {
			if o.Kind != 3 || o.Name == "" || length(o.Description) < 1 || length(o.Description) > 100 {
				return nil, invalid()
			}
		}
	}
	s.commands = all
	return all, nil
}

// Commands is the menu.
func (s *Server) Commands() []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}
