// Package chatgpt reads the export of a ChatGPT account: a zip archive, or the
// folder or conversations.json out of it. A conversation there is a tree; the
// branch that was open last is the one that is taken.
package chatgpt

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/imports/source"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	maxConversation = 128 << 20
	maxMessages     = 200_000 // of a branch
)

type conversation struct {
	ID       string          `json:"conversation_id"`
	OldID    string          `json:"id"`
	Title    string          `json:"title"`
	Created  float64         `json:"create_time"`
	Archived bool            `json:"is_archived"`
	Mapping  map[string]node `json:"mapping"`
	Current  string          `json:"current_node"`
}

type node struct {
	Parent  string `json:"parent"`
	Message *said  `json:"message"`
}

type said struct {
	ID     string `json:"id"`
	Author struct {
		Role string `json:"role"`
		Name string `json:"name"`
	} `json:"author"`
	Created   float64 `json:"create_time"`
	Content   content `json:"content"`
	Recipient string  `json:"recipient"`
	Metadata  struct {
		Hidden      bool         `json:"is_visually_hidden_from_conversation"`
		Model       string       `json:"model_slug"`
		Attachments []attachment `json:"attachments"`
	} `json:"metadata"`
}

type attachment struct {
	Name string `json:"name"`
}

type content struct {
	Type   string            `json:"content_type"`
	Parts  []json.RawMessage `json:"parts"`
	Text   string            `json:"text"`
	Title  string            `json:"title"`
	URL    string            `json:"url"`
	Result string            `json:"result"`
}

// files are those that hold conversations: large exports have several.
func files(t *source.Tree) (out []string) {
	if t.Name != "" {
		return []string{t.Name}
	}
	names, err := t.Files(".", nil)
	if err != nil {
		return nil
	}
	for _, name := range names {
		base := path.Base(name)
		if strings.HasPrefix(base, "conversations") && strings.HasSuffix(base, ".json") {
			out = append(out, name)
		}
	}
	return out
}

// Fits reports whether this is such an export: the first conversation is a tree.
func Fits(t *source.Tree) bool {
	for _, name := range files(t) {
		f, err := t.Open(name)
		if err != nil {
			return false
		}
		defer func() { _ = f.Close() }()
		for e, err := range source.Elements(f, maxConversation) {
			var c struct {
				Mapping json.RawMessage `json:"mapping"`
			}
			return err == nil && (e.TooLong || json.Unmarshal(e.Data, &c) == nil && len(c.Mapping) > 2)
		}
	}
	return false
}

// Read hands over the conversations.
func Read(ctx context.Context, t *source.Tree, give imports.Give) error {
	list := files(t)
	if len(list) == 0 {
		return fmt.Errorf("%s holds no conversations.json", t.Path)
	}
	for _, name := range list {
		if err := readFile(ctx, t, name, give); err != nil {
			return err
		}
	}
	return nil
}

func readFile(ctx context.Context, t *source.Tree, name string, give imports.Give) error {
	f, err := t.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	n := 0
	for e, err := range source.Elements(f, maxConversation) {
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		n++
		var c conversation
		if err = source.ErrTooLarge; !e.TooLong {
			err = json.Unmarshal(e.Data, &c)
		}
		it := imports.Left(imports.Chats, fmt.Sprintf("%s, number %d", name, n), "", 1)
		switch id := cmp.Or(c.ID, c.OldID); {
		case err != nil:
			it.Why = imports.Why(err)
		case id == "":
			it.Why = "it is no conversation"
		default:
			it = imports.Item{Kind: imports.Chats, ID: id, Name: cmp.Or(c.Title, id), Chat: &imports.Chat{
				Title: c.Title, CreatedAt: millis(c.Created), Archived: c.Archived, Messages: c.branch(),
			}}
		}
		if err := give(it); err != nil {
			return err
		}
	}
	return nil
}

// branch is the open branch of the tree, from its beginning.
func (c *conversation) branch() iter.Seq2[imports.Message, error] {
	var ids []string
	seen := map[string]bool{}
	for id := c.last(); id != "" && !seen[id] && len(ids) < maxMessages; id = c.Mapping[id].Parent {
		seen[id] = true
		ids = append(ids, id)
	}
	slices.Reverse(ids)
	return func(yield func(imports.Message, error) bool) {
		at := millis(c.Created)
		for _, id := range ids {
			m, ok := c.Mapping[id].message(id)
			if !ok {
				continue
			}
			if m.Timestamp == 0 {
				m.Timestamp = at // some are kept without their time
			}
			at = m.Timestamp
			if !yield(m, nil) {
				return
			}
		}
	}
}

// last is where the open branch ends; without a word about it, the latest message.
func (c *conversation) last() string {
	if _, ok := c.Mapping[c.Current]; ok {
		return c.Current
	}
	best, at := "", -1.0
	for id, n := range c.Mapping {
		if n.Message != nil && (n.Message.Created > at || n.Message.Created == at && id > best) {
			best, at = id, n.Message.Created
		}
	}
	return best
}

func (n node) message(id string) (m imports.Message, ok bool) {
	s := n.Message
	if s == nil || s.Metadata.Hidden || s.Content.Type == "user_editable_context" || s.Content.Type == "model_editable_context" {
		return m, false
	}
	m.ID, m.Timestamp = cmp.Or(s.ID, id), millis(s.Created)
	text := s.Content.words()
	switch s.Author.Role {
	case "user":
		m.Role = protocol.MessageUser
	case "assistant":
		m.Role, m.Provider, m.Model = protocol.MessageAssistant, "openai", s.Metadata.Model
		if s.Recipient != "" && s.Recipient != "all" && text != "" { // it calls a tool
			text = "[to " + s.Recipient + "]\n" + text
		}
	case "tool":
		m.Role, m.ToolName = protocol.MessageToolResult, s.Author.Name
	default:
		m.Role = protocol.MessageSystem
	}
	for _, a := range s.Metadata.Attachments {
		text += "\n[file " + a.Name + "]"
	}
	if text = strings.TrimSpace(text); text == "" {
		return m, false
	}
	m.Content = protocol.TextBlocks(text)
	return m, true
}

// words are the parts of a content that people read; pictures are named.
func (c content) words() string {
	var out []string
	for _, raw := range c.Parts {
		var s string
		var p struct {
			Type string `json:"content_type"`
			Text string `json:"text"`
			Name string `json:"asset_pointer"`
		}
		switch {
		case json.Unmarshal(raw, &s) == nil:
			out = append(out, s)
		case json.Unmarshal(raw, &p) != nil:
		case p.Text != "":
			out = append(out, p.Text)
		case strings.Contains(p.Type, "image"):
			out = append(out, "[picture]")
		case strings.Contains(p.Type, "audio"):
			out = append(out, "[sound]")
		}
	}
	if c.Type != "thoughts" && c.Type != "reasoning_recap" {
		for _, s := range []string{c.Title, c.URL, c.Text, c.Result} {
			if s != "" {
				out = append(out, s)
			}
		}
	}
	return strings.Join(out, "\n")
}

func millis(seconds float64) int64 {
	const latest = 1e11
	if !(seconds > 0 && seconds < latest) {
		return 0
	}
	return int64(seconds * 1000)
}
