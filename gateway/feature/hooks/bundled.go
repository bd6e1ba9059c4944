package hooks

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hearth-assistant/hearth/gateway/handler"
	"github.com/hearth-assistant/hearth/gateway/skill"
)

//go:embed bundled/*/HOOK.md
var bundledFiles embed.FS

// bundledHooks are those that come with Hearth, as their files describe them.
var bundledHooks = sync.OnceValue(func() (out []skill.Hook) {
	names, _ := fs.Glob(bundledFiles, "bundled/*/HOOK.md")
	for _, name := range names {
		data, err := bundledFiles.ReadFile(name)
		if err != nil {
			continue // cannot be: it is in the program
		}
		if h, err := skill.ParseHook(data, path.Base(path.Dir(name))); err == nil {
			out = append(out, h)
		}
	}
	return out
})

// builtin is a hook that comes with Hearth.
type builtin interface {
	do(ctx context.Context, ev event) (handler.Reply, error)
}

// builtins are what does the work of the bundled hooks, by their names.
func (i *inside) builtins() map[string]builtin {
	return map[string]builtin{
		"boot-md": bootMD{i}, "bootstrap-extra-files": extraFiles{}, "command-logger": &commandLogger{dir: string(i.o.Inside.Dir)},
		"compaction-notifier": compactionNotifier{}, "session-memory": sessionMemory{i},
	}
}

// word is a fact of an event that is a text.
func (ev event) word(name string) string {
	s, _ := ev.Context[name].(string)
	return s
}

// number is a fact that is a number, -1 when there is none.
func (ev event) number(name string) int {
	if n, ok := ev.Context[name].(int); ok {
		return n
	}
	return -1
}

// compactionNotifier says that a conversation is summarized.
type compactionNotifier struct{}

func (compactionNotifier) do(_ context.Context, ev event) (handler.Reply, error) {
	if ev.Action == "compact:before" {
		with := ""
		if n := ev.number("messageCount"); n >= 0 {
			with = " (" + strconv.Itoa(n) + " messages)"
		}
		return handler.Reply{Messages: []string{"🧹 Compacting context" + with + " so I can continue without losing history…"}}, nil
	}
	delta := ""
	if a, b := ev.number("tokensBefore"), ev.number("tokensAfter"); a > 0 && b > 0 {
		delta = fmt.Sprintf(" (%d → %d tokens)", a, b)
	}
	return handler.Reply{Messages: []string{"✅ Context compacted" + delta + ". Continuing from where I left off."}}, nil
}

// maxCommandLog is how large the log of commands becomes before it begins anew.
const maxCommandLog = 5 << 20

// commandLogger writes commands down.
type commandLogger struct {
	dir string
	mu  sync.Mutex
}

func (c *commandLogger) do(_ context.Context, ev event) (handler.Reply, error) {
	or := func(s string) string {
		if s == "" {
			return "unknown"
		}
		return s
	}
	line, err := json.Marshal(struct {
		Timestamp  string `json:"timestamp"`
		Action     string `json:"action"`
		SessionKey string `json:"sessionKey"`
		SenderID   string `json:"senderId"`
		Source     string `json:"source"`
	}{
		ev.Timestamp.Format("2006-01-02T15:04:05.000Z07:00"), ev.Action, ev.SessionKey, or(ev.word("senderId")), or(ev.word("commandSource")),
	})
	if err != nil {
		return handler.Reply{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	dir := filepath.Join(c.dir, "logs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return handler.Reply{}, fmt.Errorf("the log of commands cannot be written: %w", err)
	}
	file := filepath.Join(dir, "commands.log")
	if info, err := os.Stat(file); err == nil && info.Size() > maxCommandLog {
		if err := os.Rename(file, file+".1"); err != nil {
			return handler.Reply{}, fmt.Errorf("the log of commands cannot begin anew: %w", err)
		}
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return handler.Reply{}, fmt.Errorf("the log of commands cannot be written: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return handler.Reply{}, errors.Join(err, f.Close())
}

// maxExtra is how many files bootstrap-extra-files adds.
const maxExtra = 50

// extraFiles adds files of the workspace to prompts.
type extraFiles struct{}

func (extraFiles) do(_ context.Context, ev event) (r handler.Reply, err error) {
	var set struct{ Paths, Patterns, Files []string }
	if len(ev.Options) > 0 {
		if err := json.Unmarshal(ev.Options, &set); err != nil {
			return r, fmt.Errorf("paths is a list of texts in the settings: %w", err)
		}
	}
	patterns := set.Paths
	if len(patterns) == 0 {
		patterns = set.Patterns
	}
	if len(patterns) == 0 {
		patterns = set.Files
	}
	if len(patterns) == 0 {
		return r, nil
	}
	root, err := os.OpenRoot(ev.word("workspaceDir"))
	if err != nil {
		return r, nil // nobody has talked to this agent yet
	}
	defer root.Close()
	var found []string
	for _, p := range patterns {
		p = path.Clean(filepath.ToSlash(p))
		if path.IsAbs(p) || strings.HasPrefix(p, "..") {
			return r, fmt.Errorf("the path %q leads out of the workspace", p)
		}
		names, err := fs.Glob(root.FS(), p)
		if err != nil {
			return r, fmt.Errorf("the path %q cannot be read: %w", p, err)
		}
		found = append(found, names...)
	}
	slices.Sort(found)
	for _, name := range slices.Compact(found) {
		if len(r.BootstrapFiles) == maxExtra {
			break
		}
		r.BootstrapFiles = append(r.BootstrapFiles, handler.BootstrapFile{Name: path.Base(name), Path: name})
	}
	return r, nil
}
