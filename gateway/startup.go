package gateway

import (
	"context"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/memory"
	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/session"
	memorytool "github.com/hearth-assistant/hearth/gateway/tool/memory"
)

// recentNotes reads the memory notes of the last days.
type recentNotes struct{ g *Gateway }

// Recent implements dispatch.Notes.
func (n recentNotes) Recent(ctx context.Context, turn session.Turn) string {
	g := n.g
	s := g.config.Snapshot().Config.Agents.Defaults.StartupContext
	scope := g.scopes.Of(session.Run{SessionKey: turn.SessionKey, Route: turn.Route, Owner: turn.Owner, Sender: turn.Sender}, model.Ref{})
	if !g.toolGate.May("memory_get", scope).Allowed {
		return ""
	}
	notes, err := g.memory.Recent(ctx, memorytool.ScopeOf(scope), g.opts.Now(), memory.Days{Days: s.DailyMemoryDays, File: s.MaxFileChars, Total: s.MaxTotalChars})
	if err != nil {
		g.log.Warn("a session begins without the notes of the last days", "session", turn.SessionKey, "err", err)
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
