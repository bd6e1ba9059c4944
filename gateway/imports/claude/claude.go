// Package claude reads the export of a Claude account: a zip archive, or the
// folder or conversations.json out of it. What Claude remembers (memories.json)
// becomes a memory file.
package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/imports/source"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	maxConversation = 128 << 20
	maxMemories     = 16 << 20
)

type conversation struct {
	ID       string `json:"uuid"`
	Name     string `json:"name"`
	Created  string `json:"created_at"`
	Messages []said `json:"chat_messages"`
}

type said struct {
	ID          string `json:"uuid"`
	Text        string `json:"text"`
	Content     []part `json:"content"`
	Sender      string `json:"sender"`
	Created     string `json:"created_at"`
	Attachments []file `json:"attachments"`
	Files       []file `json:"files"`
}

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Name string `json:"name"`
}

type file struct {
	Name string `json:"file_name"`
}

// named is a file of the export, wherever it lies in it.
func named(t *source.Tree, base string) string {
	if t.Name != "" {
		if base == "conversations.json" {
			return t.Name
		}
		return ""
	}
	names, err := t.Files(".", nil)
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(names, func(n string) bool { return path.Base(n) == base })
	if i < 0 {
		return ""
	}
	return names[i]
}

// Fits reports whether this is such an export.
func Fits(t *source.Tree) bool {
	name := named(t, "conversations.json")
	if name == "" {
		return false
	}
	f, err := t.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	for e, err := range source.Elements(f, maxConversation) {
		var c struct {
			Messages json.RawMessage `json:"chat_messages"`
		}
		return err == nil && !e.TooLong && json.Unmarshal(e.Data, &c) == nil && c.Messages != nil
	}
	return false
}

// Read hands over the conversations, and what is remembered.
func Read(ctx context.Context, t *source.Tree, give imports.Give) error {
	if err := readMemories(t, give); err != nil {
		return err
	}
	if named(t, "projects.json") != "" {
		if err := give(imports.Left(imports.Other, "projects.json", "projects are not taken; their chats are", 1)); err != nil {
			return err
		}
	}
	name := named(t, "conversations.json")
	if name == "" {
		return fmt.Errorf("%s holds no conversations.json", t.Path)
	}
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
		if err := give(item(e, fmt.Sprintf("%s, number %d", name, n))); err != nil {
			return err
		}
	}
	return nil
}

func item(e source.Element, where string) imports.Item {
	var c conversation
	err := source.ErrTooLarge
	if !e.TooLong {
		err = json.Unmarshal(e.Data, &c)
	}
	switch {
	case err != nil:
		return imports.Left(imports.Chats, where, imports.Why(err), 1)
	case c.ID == "":
		return imports.Left(imports.Chats, where, "it is no conversation", 1)
	}
	return imports.Item{Kind: imports.Chats, ID: c.ID, Name: cmp.Or(c.Name, c.ID), Chat: &imports.Chat{
		Title: c.Name, CreatedAt: moment(c.Created), Messages: c.all(),
	}}
}

func (c conversation) all() iter.Seq2[imports.Message, error] {
	return func(yield func(imports.Message, error) bool) {
		at := moment(c.Created)
		for i, s := range c.Messages {
			m := imports.Message{ID: cmp.Or(s.ID, fmt.Sprintf("#%d", i))}
			if t := moment(s.Created); t != 0 {
				at = t
			}
			m.Timestamp, m.Role = at, protocol.MessageUser
			if s.Sender == "assistant" {
				m.Role, m.Provider = protocol.MessageAssistant, "anthropic"
			}
			if text := s.words(); text != "" {
				m.Content = protocol.TextBlocks(text)
				if !yield(m, nil) {
					return
				}
			}
		}
	}
}

// words are what was said, with the names of tools that were used and of files.
func (s said) words() string {
	var out []string
	for _, p := range s.Content {
		switch p.Type {
		case "text":
			out = append(out, p.Text)
		case "tool_use":
			out = append(out, "[uses "+p.Name+"]")
		}
	}
	if len(out) == 0 {
		out = append(out, s.Text)
	}
	for _, f := range slices.Concat(s.Attachments, s.Files) {
		if f.Name != "" {
			out = append(out, "[file "+f.Name+"]")
		}
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// readMemories hands over what Claude remembers.
func readMemories(t *source.Tree, give imports.Give) error {
	name := named(t, "memories.json")
	if name == "" {
		return nil
	}
	raw, err := t.Read(name, maxMemories)
	var list []struct {
		About    string            `json:"conversations_memory"`
		Projects map[string]string `json:"project_memories"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return give(imports.Left(imports.Memory, name, imports.Why(err), 0))
	}
	var b strings.Builder
	for _, m := range list {
		b.WriteString(m.About + "\n")
		for _, id := range slices.Sorted(maps.Keys(m.Projects)) {
			b.WriteString("\n" + m.Projects[id] + "\n")
		}
	}
	text := strings.TrimSpace(b.String())
	if text == "" {
		return nil
	}
	return give(imports.Item{Kind: imports.Memory, ID: name, Name: name, File: &imports.File{
		Path: "memory/claude.md", Data: []byte("# What Claude remembered\n\n" + text + "\n"),
	}})
}

func moment(s string) int64 {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || at.Year() < 1971 {
		return 0
	}
	return at.UnixMilli()
}
