package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newSessions(a *app) *cobra.Command {
	return group("sessions", "List, read and export conversations",
		newSessionsList(a), newSessionsShow(a), newSessionsExport(a), newSessionsEarlier(a), newSessionsContinue(a), newSessionsBranches(a))
}

type sessionsListOptions struct {
	limit  int
	search string
}

func newSessionsList(a *app) *cobra.Command {
	var o sessionsListOptions
	c := &cobra.Command{
		Use: "list", Short: "List conversations, the latest first", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error { return runSessionsList(ctx, a, o) }),
	}
	c.Flags().IntVarP(&o.limit, "limit", "n", 50, "at most this many, 0 for all")
	c.Flags().StringVar(&o.search, "search", "", "only those whose name or title holds this text")
	return c
}

func runSessionsList(ctx context.Context, a *app, o sessionsListOptions) error {
	if o.limit < 0 {
		return usage("--limit must not be negative")
	}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		return err
	}
	defer c.Close()
	sessions := []protocol.SessionRow{}
	total, err := eachSession(ctx, c, o, func(r protocol.SessionRow) error { sessions = append(sessions, r); return nil })
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(map[string]any{"total": total, "sessions": sessions})
	}
	return printSessions(a, sessions, total, o.search)
}

func printSessions(a *app, sessions []protocol.SessionRow, total int, search string) error {
	if len(sessions) == 0 && search != "" {
		return a.out().print("No conversation has " + strconv.Quote(line(search)) +
			" in its name or title. `hearth search` looks into messages.\n")
	}
	if len(sessions) == 0 {
		return a.out().print("There are no conversations yet. Begin one with `hearth chat \"…\"`.\n")
	}
	var rows [][]string
	for _, s := range sessions {
		state := ""
		switch {
		case s.HasActiveRun:
			state = "answering"
		case s.AbortedLastRun:
			state = "stopped"
		}
		rows = append(rows, []string{s.Key, stamp(s.UpdatedAt), count(s.MessageCount, "message"), state, title(&s)})
	}
	if err := a.out().table([]string{"SESSION", "LAST USED", "LENGTH", "STATE", "TITLE"}, rows); err != nil {
		return err
	}
	if more := total - len(sessions); more > 0 {
		return a.errs().print(dim(count(more, "more session")+"; --limit 0 shows all"), "\n")
	}
	return nil
}

func title(s *protocol.SessionRow) string {
	for _, t := range []string{s.Label, s.DisplayName, s.DerivedTitle, s.LastMessagePreview} {
		if t != "" {
			return t
		}
	}
	return ""
}

// eachSession pages through the list; limit 0 means all. It returns how many
// there are in total.
func eachSession(ctx context.Context, c *client.Client, o sessionsListOptions, f func(protocol.SessionRow) error) (total int, err error) {
	const page = 500
	seen := map[string]bool{} // the list may move between pages
	for offset := 0; ; {
		p := protocol.SessionsListParams{Limit: page, Offset: offset, Search: o.search, IncludeDerivedTitles: true, IncludeLastMessage: true}
		if o.limit > 0 {
			p.Limit = min(page, o.limit-len(seen))
		}
		var l protocol.SessionsList
		if err := c.Call(ctx, protocol.MethodSessionsList, p, &l); err != nil {
			return 0, err
		}
		for _, s := range l.Sessions {
			if seen[s.Key] {
				continue
			}
			seen[s.Key] = true
			if err := f(s); err != nil {
				return 0, err
			}
		}
		if !l.HasMore || len(l.Sessions) == 0 || o.limit > 0 && len(seen) >= o.limit {
			return max(l.TotalCount, len(seen)), nil
		}
		offset += len(l.Sessions)
	}
}

type sessionsShowOptions struct {
	limit int
}

func newSessionsShow(a *app) *cobra.Command {
	var o sessionsShowOptions
	c := &cobra.Command{
		Use: "show [SESSION | ID]", Short: "Print a conversation (default: the main one), or by its id an earlier one",
		Args: cobra.MaximumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { return runSessionsShow(ctx, a, o, args) }),
	}
	c.Flags().IntVarP(&o.limit, "limit", "n", 100, "at most the last so many messages, 0 for all")
	return c
}

type sessionShowJSON struct {
	SessionKey string             `json:"sessionKey"`
	Messages   []protocol.Message `json:"messages"`
}

func runSessionsShow(ctx context.Context, a *app, o sessionsShowOptions, args []string) error {
	if o.limit < 0 {
		return usage("--limit must not be negative")
	}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		return err
	}
	defer c.Close()
	key := mainSession(c.Hello())
	if len(args) == 1 {
		key = args[0]
	}
	past, _, err := findEarlier(ctx, c, key)
	if err != nil {
		return err
	}
	if past.SessionID != "" {
		key = past.SessionKey
	}
	h, err := readHistory(ctx, c, key, past.SessionID, o.limit)
	if err != nil {
		return err
	}
	if h.SessionID == "" && len(h.Messages) == 0 && len(args) == 1 {
		return noSession(key)
	}
	if a.asJSON {
		return a.out().json(sessionShowJSON{h.SessionKey, h.Messages})
	}
	if e := h.Earlier; e != nil && !h.HasMore {
		words := count(e.Messages, "message") + " before: hearth sessions show " + e.SessionID
		if err := a.out().print(dim("— new conversation · "+words), "\n\n"); err != nil {
			return err
		}
	}
	for i := range h.Messages {
		if err := printMessage(a.out(), &h.Messages[i]); err != nil {
			return err
		}
	}
	if r := h.InFlightRun; r != nil {
		return a.out().print(bold("Hearth"), dim(" · answering"), "\n", r.Text, " …\n\n")
	}
	return nil
}

func noSession(key string) error {
	return &failure{exitFailure, "there is no session " + line(key), "`hearth sessions list` names them"}
}

// sessionThere refuses the name of a session that there is not.
func sessionThere(ctx context.Context, c *client.Client, key string) error {
	var d protocol.SessionsDescribeResult
	if err := c.Call(ctx, protocol.MethodSessionsDescribe, protocol.SessionKeyParams{Key: key}, &d); err != nil {
		return err
	}
	if d.Session == nil {
		return noSession(key)
	}
	return nil
}

// readHistory pages back from the end; limit 0 means everything.
func readHistory(ctx context.Context, c *client.Client, key, sessionID string, limit int) (protocol.ChatHistory, error) {
	const page = 500
	var all protocol.ChatHistory
	for before := int64(0); ; {
		p := protocol.ChatHistoryParams{SessionKey: key, SessionID: sessionID, Limit: page, Before: before}
		if limit > 0 {
			p.Limit = min(page, limit-len(all.Messages))
		}
		var h protocol.ChatHistory
		if err := c.Call(ctx, protocol.MethodChatHistory, p, &h); err != nil {
			return all, err
		}
		msgs := append(slices.Clip(h.Messages), all.Messages...)
		if before == 0 {
			all = h
		}
		all.Messages, all.HasMore, all.Earlier = msgs, h.HasMore, h.Earlier
		if !h.HasMore || len(h.Messages) == 0 || limit > 0 && len(msgs) >= limit {
			return all, nil
		}
		if h.Messages[0].Meta == nil {
			return all, errors.New("the gateway's history cannot be paged: a message has no place in it")
		}
		before = h.Messages[0].Meta.Seq
	}
}

func printMessage(out screen, m *protocol.Message) error {
	when := ""
	if m.Timestamp > 0 {
		when = " · " + time.UnixMilli(m.Timestamp).Format("2006-01-02 15:04")
	}
	switch m.Role {
	case protocol.MessageUser:
		return out.print(bold(cmp.Or(line(m.Speaker()), "You")), dim(when+receipt(m.Hearth)), "\n", m.Text(), "\n\n")
	case protocol.MessageToolResult:
		return out.print(dim(deeper(m)+"  ↳ "+line(m.ToolName)+": "+text.Ellipsis(line(m.Text()), 200)), "\n\n")
	}
	if m.Nested() { // a call of a program, without a speaker of its own
		b := m.Content[0]
		return out.print(dim(deeper(m)+"  → "+line(b.Name)+" "+text.Ellipsis(line(string(b.Arguments)), 200)), "\n")
	}
	who := "Hearth"
	if m.Role == protocol.MessageSystem {
		who = "Note"
	}
	if m.Hearth != nil && m.Hearth.BuiltIn {
		when += " · built-in guide, not an AI model"
	} else if m.Model != "" {
		when += " · " + line(m.Provider+"/"+m.Model)
	}
	parts := []any{bold(who), dim(when), "\n"}
	if t := m.Text(); t != "" {
		parts = append(parts, t, "\n")
	}
	for _, b := range m.Content {
		if b.Type == protocol.BlockToolCall {
			parts = append(parts, dim("  → "+line(b.Name)+" "+text.Ellipsis(line(string(b.Arguments)), 200)), "\n")
		}
	}
	if m.ErrorMessage != "" {
		parts = append(parts, red("  "+line(m.ErrorMessage)), "\n")
	}
	return out.print(append(parts, "\n")...)
}

// deeper sets calls of programs off from what the model called itself.
func deeper(m *protocol.Message) string {
	if m.Nested() {
		return "    "
	}
	return ""
}

// receipt says what became of a message, when that is not the usual.
func receipt(r *protocol.MessageReceipt) string {
	if r == nil || r.State == "" || r.State == protocol.ReceiptAnswered {
		return ""
	}
	return " · " + string(r.State)
}
