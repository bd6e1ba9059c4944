package cli

import (
	"context"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newSessionsEarlier(a *app) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "earlier [SESSION]", Short: "List conversations that stood in a chat before it began anew", Args: cobra.MaximumNArgs(1),
		Long: `List conversations that stood in a chat before it began anew: by /new, by /reset,
or by a rule. They can be read with ` + "`hearth sessions show ID`" + ` and continued with
` + "`hearth sessions continue ID`" + `. Without a session those of all chats are listed.`,
		RunE: a.run(func(ctx context.Context, args []string) error { return runEarlier(ctx, a, limit, args) }),
	}
	c.Flags().IntVarP(&limit, "limit", "n", 50, "at most this many")
	return c
}

func runEarlier(ctx context.Context, a *app, limit int, args []string) error {
	if limit < 1 {
		return usage("--limit must be at least 1")
	}
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		return err
	}
	defer c.Close()
	p := protocol.EarlierParams{Limit: limit}
	if len(args) == 1 {
		p.Key = args[0]
	}
	var l protocol.EarlierList
	if err := c.Call(ctx, protocol.MethodEarlier, p, &l); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(l)
	}
	if len(l.Earlier) == 0 {
		return a.out().print("There are no earlier conversations.\n")
	}
	var rows [][]string
	for _, e := range l.Earlier {
		rows = append(rows, []string{e.SessionID, e.SessionKey, stamp(e.EndedAt), count(e.Messages, "message"), e.Title})
	}
	if err := a.out().table([]string{"ID", "SESSION", "ENDED", "LENGTH", "TITLE"}, rows); err != nil {
		return err
	}
	if more := l.Total - len(l.Earlier); more > 0 {
		return a.errs().print(dim(count(more, "more conversation")+"; --limit shows more"), "\n")
	}
	return nil
}

func newSessionsContinue(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "continue ID", Short: "Make an earlier conversation a chat of its own", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite}})
			if err != nil {
				return err
			}
			defer c.Close()
			e, ok, err := findEarlier(ctx, c, args[0])
			if err != nil {
				return err
			}
			if !ok {
				return &failure{exitFailure, "there is no earlier conversation " + line(args[0]), "`hearth sessions earlier` names them"}
			}
			var done protocol.Continued
			if err := c.Call(ctx, protocol.MethodContinue, protocol.ContinueParams{Key: e.SessionKey, SessionID: e.SessionID}, &done); err != nil {
				return err
			}
			if a.asJSON {
				return a.out().json(done)
			}
			return a.out().print("It is a chat again: ", line(done.Key), "\n", dim("hearth chat --session "+done.Key+" \"…\" goes on with it"), "\n")
		}),
	}
}

// sessionID is how the id of a conversation looks; no chat is named like that.
var sessionID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// findEarlier finds an earlier conversation by its id.
func findEarlier(ctx context.Context, c *client.Client, id string) (e protocol.Earlier, ok bool, err error) {
	if !sessionID.MatchString(id) {
		return e, false, nil
	}
	var l protocol.EarlierList
	if err := c.Call(ctx, protocol.MethodEarlier, protocol.EarlierParams{SessionID: id}, &l); err != nil || len(l.Earlier) == 0 {
		return e, false, err
	}
	return l.Earlier[0], true, nil
}
