package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	sessiontool "github.com/hearth-assistant/hearth/gateway/tool/session"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/subagent"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	"github.com/hearth-assistant/hearth/internal/text"
)

// others shows conversations to the tools of runs: those that a run may see.
type others struct{ f *feature }

// sees reports whether a call may see a session.
func (o others) sees(call tool.Call, key string) bool {
	if key == call.SessionKey {
		return true
	}
	if !call.Owner || call.Group {
		return false // its own session only, whatever the settings say
	}
	how := Section.Of(o.f.o.Settings.Snapshot().Config).Visibility
	if call.Depth > 0 && how == seeAgent {
		how = seeTree
	}
	switch how {
	case seeAgent:
		return session.AgentOf(key) == call.AgentID
	case seeTree:
		below, err := o.f.o.Children.Of(call.SessionKey)
		return err == nil && slices.ContainsFunc(below, func(r subagent.Record) bool { return r.Key == key })
	}
	return false
}

// find is the row of a session that a call may see.
func (o others) find(call tool.Call, name string) (row protocol.SessionRow, err error) {
	key, err := session.Canonical(name, call.AgentID)
	if err != nil {
		return row, err
	}
	row, ok, err := o.f.o.Sessions.Get(key)
	if err != nil {
		return row, fmt.Errorf("the session could not be read: %w", err)
	}
	if !ok || !o.sees(call, key) {
		return row, fmt.Errorf("there is no session %q that this one may see; sessions_list shows them", text.Ellipsis(name, 120))
	}
	return row, nil
}

// kindOf is how sessions_list calls a session.
func kindOf(row protocol.SessionRow) string {
	switch {
	case subagent.Depth(row.Key) > 0:
		return "subagent"
	case strings.HasSuffix(row.Key, ":"+session.MainAlias):
		return "main"
	case row.Kind == "group":
		return "group"
	}
	return "other"
}

func (o others) List(ctx context.Context, call tool.Call, q sessiontool.Query) (out []sessiontool.Info, err error) {
	p := protocol.SessionsListParams{AgentID: call.AgentID, ActiveMinutes: q.ActiveMinutes, Limit: 500}
	for len(out) < q.Limit {
		page, err := o.f.o.Sessions.List(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, row := range page.Sessions {
			if len(out) == q.Limit || !o.sees(call, row.Key) || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, kindOf(row)) {
				continue
			}
			info := sessiontool.Info{
				Key: row.Key, Kind: kindOf(row), Label: row.Label, Title: row.DerivedTitle, Channel: row.Channel, Messages: row.MessageCount,
				Running: row.HasActiveRun, UpdatedAt: time.UnixMilli(row.UpdatedAt),
			}
			if row.Model != "" {
				info.Model = row.ModelProvider + "/" + row.Model
			}
			if q.MessageLimit > 0 {
				if info.Last, err = o.History(ctx, call, row.Key, q.MessageLimit, false); err != nil {
					return nil, err
				}
			}
			out = append(out, info)
		}
		if page.NextOffset == nil {
			break
		}
		p.Offset = *page.NextOffset
	}
	return out, nil
}

func (o others) History(ctx context.Context, call tool.Call, name string, limit int, tools bool) (out []sessiontool.Said, err error) {
	row, err := o.find(call, name)
	if err != nil {
		return nil, err
	}
	ask := limit
	if !tools {
		ask *= 4 // most entries may be those of tools
	}
	page, err := o.f.o.Sessions.History(ctx, row.Key, protocol.ChatHistoryParams{Limit: ask, MaxChars: 16 << 10})
	if err != nil {
		return nil, fmt.Errorf("the session could not be read: %w", err)
	}
	for _, m := range page.Messages {
		text := o.f.o.Secrets.Text(m.Text())
		switch {
		case m.ExcludeFromContext, m.Role == protocol.MessageSystem, m.Role == protocol.MessageToolResult && !tools,
			strings.TrimSpace(text) == "":
			continue
		}
		out = append(out, sessiontool.Said{Role: m.Role, Tool: m.ToolName, Text: text})
	}
	return out[max(0, len(out)-limit):], nil
}

// trusted reports whether words of a call may count as the owner's in a
// session: they have the lowest trust of all that the chain went through.
func (o others) trusted(call tool.Call, row protocol.SessionRow) bool {
	if !call.Owner || call.Group || row.Kind == "group" {
		return false
	}
	last, err := o.f.o.Sessions.Why(row.Key, "")
	if errors.Is(err, session.ErrNotFound) {
		return true // nobody spoke there yet
	}
	return err == nil && last.Owner
}

func (o others) Send(ctx context.Context, call tool.Call, name, text string, wait time.Duration) (a sessiontool.Answer, err error) {
	row, err := o.find(call, name)
	if err != nil {
		return a, err
	}
	if row.Key == call.SessionKey {
		return a, errors.New("this is that session; answer here instead")
	}
	relay, err := o.f.o.Sessions.RelayOf(call, "sessions_send")
	if err != nil {
		return a, err
	}
	return o.hand(ctx, session.Turn{
		RunID: "relay:" + uuid.New(), SessionKey: row.Key, Text: text, Owner: o.trusted(call, row), Mode: session.Followup, Relay: relay,
		ForAgent: "[A message from another session of this assistant, not from a person. Answer it; your reply goes back there.]\n" +
			untrusted.Wrapper{}.Wrap("session "+call.SessionKey, text),
	}, wait)
}

// hand accepts a turn and waits for its end.
func (o others) hand(ctx context.Context, turn session.Turn, wait time.Duration) (a sessiontool.Answer, err error) {
	acc, err := o.f.o.Dispatch.AcceptWords(ctx, turn, false)
	if err != nil {
		return a, fmt.Errorf("the session did not take the message: %w", err)
	}
	a.RunID, a.Status = acc.Run.ID, "accepted"
	if wait <= 0 {
		return a, nil
	}
	waiting, stop := context.WithTimeout(ctx, wait)
	defer stop()
	out, err := o.f.o.Sessions.Wait(waiting, a.RunID)
	switch {
	case ctx.Err() != nil:
		return a, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		a.Status = "timeout"
		return a, nil
	case err != nil:
		return a, err
	case out.Run.State != session.RunAnswered:
		a.Status, a.Error = "error", out.Run.ErrorText
		if a.Error == "" {
			a.Error = "the run was " + string(out.Run.State)
		}
		return a, nil
	}
	if a.Status = "ok"; out.Message != nil {
		a.Reply = out.Message.Text()
	}
	return a, nil
}
