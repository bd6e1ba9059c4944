package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newContacts(a *app) *cobra.Command {
	list := func(ctx context.Context, _ []string) error { return listContacts(ctx, a) }
	resolve := func(decision string, owner *bool) func(context.Context, []string) error {
		return func(ctx context.Context, args []string) error {
			return resolveContact(ctx, a, args[0], decision, *owner)
		}
	}
	var owner, never bool
	approve := &cobra.Command{Use: "approve CODE", Short: "Let somebody in who asked and showed you this code", Args: cobra.ExactArgs(1), RunE: a.run(resolve("approve", &owner))}
	approve.Flags().BoolVar(&owner, "owner", false, "this is you: with the owner's commands")
	c := group("contacts", "See and choose who may write to Hearth from messaging networks",
		&cobra.Command{Use: "list", Short: "List who may write and who asks to", Args: cobra.NoArgs, RunE: a.run(list)},
		approve,
		&cobra.Command{Use: "reject CODE", Short: "Turn somebody away who asked", Args: cobra.ExactArgs(1), RunE: a.run(resolve("reject", &never))},
		&cobra.Command{Use: "remove CHANNEL ACCOUNT ID", Short: "Take somebody's right to write back", Args: cobra.ExactArgs(3),
			RunE: a.run(func(ctx context.Context, args []string) error { return removeContact(ctx, a, args) })},
	)
	c.RunE = a.run(list)
	return c
}

func listContacts(ctx context.Context, a *app) error {
	var res protocol.ContactsList
	if err := a.call(ctx, protocol.ScopePairing, protocol.MethodContactsList, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if len(res.Requests) > 0 {
		var rows [][]string
		for _, r := range res.Requests {
			rows = append(rows, []string{r.Code, r.Channel, r.Account, r.ID, stamp(r.AskedAt), person(r.Name, r.Handle)})
		}
		if err := a.out().print(bold("These people ask to write; `hearth contacts approve CODE` lets one in:"), "\n"); err != nil {
			return err
		}
		if err := a.out().table([]string{"CODE", "CHANNEL", "ACCOUNT", "ID", "ASKED", "NAME"}, rows); err != nil {
			return err
		}
		if err := a.out().print("\n"); err != nil {
			return err
		}
	}
	if len(res.Contacts) == 0 {
		return a.out().print("Nobody was let in with a code.\n")
	}
	var rows [][]string
	for _, c := range res.Contacts {
		owner := ""
		if c.Owner {
			owner = "owner"
		}
		rows = append(rows, []string{c.Channel, c.Account, c.ID, owner, stamp(c.ApprovedAt), person(c.Name, c.Handle)})
	}
	return a.out().table([]string{"CHANNEL", "ACCOUNT", "ID", "RIGHTS", "SINCE", "NAME"}, rows)
}

// person is how somebody calls themselves, which proves nothing.
func person(name, handle string) string {
	if handle != "" {
		name += " (@" + strings.TrimPrefix(handle, "@") + ")"
	}
	return clip(line(strings.TrimSpace(name)), 80)
}

func resolveContact(ctx context.Context, a *app, code, decision string, owner bool) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopePairing}})
	if err != nil {
		return err
	}
	defer c.Close()
	// A code belongs to one network; its list says to which.
	var asks protocol.ContactsList
	if err := c.Call(ctx, protocol.MethodContactsList, nil, &asks); err != nil {
		return err
	}
	code = strings.ToUpper(strings.TrimSpace(code))
	for _, r := range asks.Requests {
		if r.Code != code {
			continue
		}
		p := protocol.ContactResolveParams{Channel: r.Channel, Code: code, Decision: decision, Owner: owner}
		var res protocol.OKResult
		if err := c.Call(ctx, protocol.MethodContactsResolve, p, &res); err != nil {
			return err
		}
		who := line(person(r.Name, r.Handle) + " on " + r.Channel)
		if decision == "reject" {
			return a.done(res, "Turned away: "+who+".")
		}
		return a.done(res, "Let in: "+who+".")
	}
	return &failure{exitFailure, "nobody asks with the code " + line(code), "codes end after an hour; `hearth contacts` lists those that count, and a new message brings a new code"}
}

func removeContact(ctx context.Context, a *app, args []string) error {
	var res protocol.OKResult
	p := protocol.ContactRemoveParams{Channel: args[0], Account: args[1], ID: args[2]}
	if err := a.call(ctx, protocol.ScopePairing, protocol.MethodContactsRemove, p, &res); err != nil {
		return err
	}
	if !res.OK {
		return &failure{exitFailure, "there is no contact " + line(strings.Join(args, " ")), "`hearth contacts` lists them; people in allowFrom are removed with `hearth config`"}
	}
	return a.done(res, "Removed. They can ask again.")
}

// done ends a command that changed something.
func (a *app) done(v any, words string) error {
	if a.asJSON {
		return a.out().json(v)
	}
	return a.out().print(words, "\n")
}
