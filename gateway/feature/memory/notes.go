package memory

import (
	"context"
	"os"
	"strings"

	memorytool "github.com/hearth-assistant/hearth/gateway/tool/memory"

	"github.com/hearth-assistant/hearth/gateway/memory"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// Notes is where durable notes of a conversation go before it is summarized:
// the day's file of whoever spoke in it. ok is false while the person has no
// workspace folder; it is not made behind their back.
func (f *Memory) Notes(key string, runs []session.Run) (keep func(ctx context.Context, text string) error, ok bool) {
	agent := session.AgentOf(key)
	if !isFolder(f.workspaceOf(agent)) {
		return nil, false
	}
	scope, from := f.speakers(key, runs)
	return func(ctx context.Context, text string) error {
		_, err := f.index.Keep(ctx, scope, f.o.Secrets.Text(text), memory.Origin{By: "summary", Session: key, From: from})
		return err
	}, true
}

// speakers says whose memory a conversation goes to, and how they are called.
// Where several spoke, it is nobody's but the conversation's.
func (f *Memory) speakers(key string, runs []session.Run) (s memory.Scope, from string) {
	s = memory.Scope{Agent: session.AgentOf(key), Of: memory.Group(key)}
	from = key
	for i, rec := range runs {
		ts := f.o.Scopes.Of(rec, model.Ref{})
		next := memorytool.ScopeOf(ts)
		next.Agent = s.Agent
		if i == 0 {
			s, from = next, memorytool.From(ts)
			continue
		}
		if next != s {
			return memory.Scope{Agent: s.Agent, Of: memory.Group(key)}, key
		}
	}
	return s, from
}

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// Recent implements dispatch.Notes.
func (f *Memory) Recent(ctx context.Context, turn session.Turn) string {
	s := memory.StartupSection.Of(f.o.Settings.Snapshot().Config)
	scope := f.o.Scopes.Of(session.Run{SessionKey: turn.SessionKey, Route: turn.Route, Owner: turn.Owner, Sender: turn.Sender}, model.Ref{})
	if !f.o.Gate.May("memory_get", scope).Allowed {
		return ""
	}
	notes, err := f.index.Recent(ctx, memorytool.ScopeOf(scope), f.o.Now(), memory.Days{Days: s.DailyMemoryDays, File: s.MaxFileChars,
		Total: s.MaxTotalChars})
	if err != nil {
		f.o.Log.Warn("a session begins without the notes of the last days", "session", turn.SessionKey, "err", err)
	}
	if len(notes) == 0 {
		return ""
	}
	var b strings.Builder
	for _, n := range notes {
		b.WriteString("[" + n.Path + "]\n")
		if n.Cut {
			b.WriteString("…\n")
		}
		b.WriteString(n.Text + "\n\n")
	}
	return strings.TrimSpace(b.String())
}
