package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newSessionsBranches(a *app) *cobra.Command {
	var use string
	c := &cobra.Command{
		Use: "branches [SESSION]", Short: "List the versions of a conversation, or go to one", Args: cobra.MaximumNArgs(1),
		Long: `List the versions of a conversation (default: the main one): a message that is
edited or answered again in the page begins a branch beside the old one, which
stays. The one in use is what models are given and what show, search and export
see; --use goes to another one.`,
		RunE: a.run(func(ctx context.Context, args []string) error { return runBranches(ctx, a, use, args) }),
	}
	c.Flags().StringVar(&use, "use", "", "go to the branch with this `ID`")
	return c
}

func runBranches(ctx context.Context, a *app, use string, args []string) error {
	scopes := []protocol.Scope{protocol.ScopeRead}
	if use != "" {
		scopes = append(scopes, protocol.ScopeWrite)
	}
	c, err := a.dial(ctx, client.Options{Scopes: scopes})
	if err != nil {
		return err
	}
	defer c.Close()
	key := mainSession(c.Hello())
	if len(args) == 1 {
		key = args[0]
	}
	if use != "" {
		if err := c.Call(ctx, protocol.MethodBranchesSwitch, protocol.BranchSwitchParams{SessionKey: key, LeafEntryID: use}, nil); err != nil {
			return err
		}
	}
	var l protocol.BranchesList
	if err := c.Call(ctx, protocol.MethodBranchesList, protocol.BranchesParams{SessionKey: key}, &l); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(l)
	}
	if len(l.Branches) == 0 {
		return a.out().print("There is nothing in this conversation.\n")
	}
	var rows [][]string
	for _, b := range l.Branches {
		state, when := "", ""
		if b.Active {
			state = "in use"
		}
		if at, err := time.Parse(time.RFC3339, b.UpdatedAt); err == nil {
			when = stamp(at.UnixMilli())
		}
		rows = append(rows, []string{b.LeafEntryID, when, count(b.MessageCount, "message"), state, b.Headline})
	}
	return a.out().table([]string{"ID", "WRITTEN", "LENGTH", "STATE", "LAST QUESTION"}, rows)
}
