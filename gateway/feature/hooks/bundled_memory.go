package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/handler"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/session"
	itext "github.com/hearth-assistant/hearth/internal/text"
)

// Limits of what session-memory reads and writes.
const (
	usualMessages = 15
	maxMessages   = 200
	maxScanned    = 4096
	maxExcerpt    = 256 << 10
)

// sessionMemory keeps the end of a conversation when a new one begins.
type sessionMemory struct{ i *inside }

// said is one message of an excerpt.
type said struct{ who, text string }

func (s sessionMemory) do(ctx context.Context, ev event) (handler.Reply, error) {
	set := struct {
		Messages int
		LLMSlug  bool
		Model    string
	}{Messages: usualMessages}
	if len(ev.Options) > 0 {
		if err := json.Unmarshal(ev.Options, &set); err != nil {
			return handler.Reply{}, fmt.Errorf("its settings are messages, llmSlug and model: %w", err)
		}
	}
	past, _ := ev.Context["previousSessionEntry"].(map[string]any)
	if ev.Type == "session" {
		past, _ = ev.Context["sessionEntry"].(map[string]any)
	}
	id, _ := past["sessionId"].(string)
	scope, err := s.i.o.Inside.Direct.Scope(ev.SessionKey, session.AgentOf(ev.SessionKey), "")
	if id == "" || err != nil || !scope.Owner || scope.Group || scope.Depth > 0 || !isFolder(scope.Workspace) {
		return handler.Reply{}, err // nothing was said, or it is not the owner's alone
	}
	words, err := s.excerpt(ctx, ev.SessionKey, id, min(max(set.Messages, 1), maxMessages))
	if err != nil || len(words) == 0 {
		return handler.Reply{}, err
	}
	at := ev.Timestamp.In(s.i.o.Inside.Clock.Zone())
	slug := at.Format("1504")
	if set.LLMSlug {
		if name, err := s.slug(ctx, ev.SessionKey, set.Model, words); err != nil {
			s.i.o.Log.Info("a memory is named by its time, because no model named it", "err", err)
		} else {
			slug = name
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Session: %s\n\n- **Session Key**: %s\n- **Session ID**: %s\n- **Source**: %s\n\n## Conversation\n\n",
		at.Format("2006-01-02 15:04:05 MST"), ev.SessionKey, id, cmp.Or(ev.word("commandSource"), ev.word("reason"), "unknown"))
	for _, w := range words {
		b.WriteString(w.who + ": " + w.text + "\n\n")
	}
	name, err := keepMemory(scope.Workspace, at, slug, s.i.o.Inside.Redactor.Text(b.String()))
	if err == nil {
		s.i.o.Log.Info("Session context saved to "+name, "session", ev.SessionKey)
	}
	return handler.Reply{}, err
}

// excerpt is what the owner and the assistant said last in a transcript.
func (s sessionMemory) excerpt(ctx context.Context, key, id string, most int) (out []said, err error) {
	after, own := int64(0), false
	for scanned, size := 0, 0; scanned < maxScanned; {
		page, err := s.i.o.Sessions.Export(ctx, key, id, after, 500)
		if err != nil {
			if errors.Is(err, session.ErrNotFound) {
				return nil, nil
			}
			return nil, fmt.Errorf("the conversation cannot be read: %w", err)
		}
		for _, m := range page.Messages {
			if m.Meta != nil {
				after = m.Meta.Seq
			}
			if m.Role == protocol.MessageUser {
				own = s.ownWords(key, m)
			}
			words := strings.TrimSpace(m.Text())
			if !own || m.ExcludeFromContext || m.Role != protocol.MessageUser && m.Role != protocol.MessageAssistant ||
				words == "" || strings.EqualFold(words, "NO_REPLY") || strings.HasPrefix(words, "/") {
				continue
			}
			if n := len(out); n > 0 && out[n-1] == (said{m.Role, words}) {
				continue
			}
			if size += len(words); size > maxExcerpt {
				out, size = nil, len(words) // the end counts
			}
			if out = append(out, said{m.Role, words}); len(out) > most {
				out = out[1:]
			}
		}
		scanned += len(page.Messages)
		if !page.HasMore || len(page.Messages) == 0 {
			break
		}
	}
	return out, nil
}

// ownWords reports whether a message is the owner's own.
func (s sessionMemory) ownWords(key string, m protocol.Message) bool {
	if m.Provenance != nil || m.Meta == nil || m.Meta.RunID == "" {
		return false
	}
	rec, err := s.i.o.Sessions.Why(key, m.Meta.RunID)
	return err == nil && rec.Owner && !rec.Outside && rec.Relay.From == ""
}

// keepMemory writes a new file of the workspace's memory.
func keepMemory(dir string, at time.Time, slug, text string) (name string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("the workspace cannot be used: %w", err)
	}
	defer root.Close()
	if err := root.Mkdir("memory", 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("the folder of memories cannot be made: %w", err)
	}
	for n := range 100 {
		name = "memory/" + at.Format(time.DateOnly) + "-" + slug
		if n > 0 {
			name += fmt.Sprintf("-%d", n+1)
		}
		name += ".md"
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("the memory cannot be written: %w", err)
		}
		_, err = f.WriteString(text)
		return name, errors.Join(err, f.Close())
	}
	return "", errors.New("there are a hundred memories of that minute already")
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug has a model name a conversation.
func (s sessionMemory) slug(ctx context.Context, key, name string, words []said) (string, error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	ref, err := s.i.o.Models.ForAssistant(name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.who + ": " + w.text + "\n")
	}
	sel := failover.Selection{Session: key}
	if r, ok := model.ParseRef(ref); ok {
		sel.Ref = r
	}
	answer, _, err := s.i.o.Sessions.AskOnce(ctx, key, sel, model.Request{
		System:   "Name this conversation in one to four words of small letters, joined by hyphens. Answer with the name only.",
		Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: itext.Prefix(b.String(), 4000)}}}},
	}, func(session.Model) error { return nil })
	if err != nil {
		return "", err
	}
	slug := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(answer), "-"), "-")
	if len(slug) > 40 {
		slug = strings.Trim(slug[:40], "-")
	}
	if slug == "" {
		return "", fmt.Errorf("the model said %q", answer)
	}
	return slug, nil
}
