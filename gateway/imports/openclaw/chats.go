package openclaw

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/imports/source"
)

// entry is what sessions.json, or session_nodes, says of a session.
type entry struct {
	SessionID   string          `json:"sessionId"`
	UpdatedAt   json.RawMessage `json:"updatedAt"`
	Label       string          `json:"label"`
	DisplayName string          `json:"displayName"`
	Subject     string          `json:"subject"`

	key      string
	created  int64
	updated  int64
	archived bool
}

func (e entry) title() string { return cmp.Or(e.Label, e.Subject, e.DisplayName) }

// readChats hands over the sessions of every agent. A session is its transcript:
// one that was begun anew there is a chat of its own here.
func (h *home) readChats(ctx context.Context) error {
	for _, agent := range h.agents(h.t) {
		dir := "agents/" + agent
		seen := map[string]bool{}
		if name := dir + "/" + h.Agent; h.Agent != "" && h.t.Has(name) {
			if err := h.databaseChats(ctx, agent, name, seen); err != nil {
				return err
			}
		}
		if err := h.fileChats(ctx, agent, dir+"/sessions", seen); err != nil {
			return err
		}
	}
	return nil
}

// fileChats are those in JSONL files, also compressed ones.
func (h *home) fileChats(ctx context.Context, agent, dir string, seen map[string]bool) error {
	known := h.listed(dir + "/sessions.json")
	names, err := h.t.Files(dir, nil)
	if err != nil {
		return err
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(fresher(a), fresher(b)) })
	for _, name := range names {
		id, ok := transcriptID(path.Base(name))
		if !ok || seen[id] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		seen[id] = true
		e := known[id]
		if e.key == "" { // a topic's file is called after its session too
			e = known[strings.SplitN(id, "-topic-", 2)[0]]
		}
		f, err := h.t.Open(name)
		if err != nil {
			if err := h.give(imports.Left(imports.Chats, name, imports.Why(err), 1)); err != nil {
				return err
			}
			continue
		}
		err = h.chatFrom(agent, id, e, name, f)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *home) chatFrom(agent, id string, e entry, name string, f *source.Handle) error {
	var r io.Reader = f
	if strings.HasSuffix(name, ".zst") {
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
		if err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
		defer z.Close()
		r = z
	}
	return h.give(imports.Item{Kind: imports.Chats, ID: id, Name: cmp.Or(e.title(), e.key, id), Chat: &imports.Chat{
		Agent: agent, Title: e.title(), CreatedAt: e.created, Archived: e.archived || e.key == "" && strings.Contains(path.Base(name), ".jsonl."),
		Messages: messages(source.Lines(r, maxEvent)),
	}})
}

// fresher puts a session's file in use before copies of it that were put away.
func fresher(name string) int {
	if strings.HasSuffix(name, ".jsonl") {
		return 0
	}
	return 1
}

// transcriptID is the session that a file holds: <id>.jsonl, and with what is said
// when it was put away: <id>.jsonl.reset.<time>, .deleted.<time>, also .zst.
func transcriptID(base string) (id string, ok bool) {
	id, rest, ok := strings.Cut(base, ".jsonl")
	if !ok || id == "" || strings.HasPrefix(base, ".") || strings.Contains(id, ".trajectory") || strings.Contains(id, ".checkpoint.") {
		return "", false
	}
	switch {
	case rest == "", rest == ".zst":
		return id, true
	case strings.HasPrefix(rest, ".reset."), strings.HasPrefix(rest, ".deleted."):
		return id + strings.TrimSuffix(rest, ".zst"), true // another conversation under the same id may follow it
	}
	return "", false
}

// listed is the list of sessions, by session id.
func (h *home) listed(name string) map[string]entry {
	out := map[string]entry{}
	raw, err := h.t.Read(name, maxList)
	if err != nil {
		return out
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return out
	}
	for key, v := range all {
		var e entry
		if json.Unmarshal(v, &e) == nil && e.SessionID != "" {
			e.key, e.updated = key, moment(e.UpdatedAt)
			out[e.SessionID] = e
		}
	}
	return out
}
