package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newModelsAuth(a *app) *cobra.Command {
	list := func(ctx context.Context, _ []string) error { return listAccounts(ctx, a) }
	var key protocol.ModelsAuthSetKeyParams
	add := &cobra.Command{Use: "add PROVIDER", Short: "Store an API key, typed or from standard input", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { key.Provider = args[0]; return addKey(ctx, a, key) })}
	add.Flags().StringVar(&key.Name, "name", "", "the name of the account, for several at one service")
	add.Flags().BoolVar(&key.Token, "token", false, "it is a bearer token, not an API key")
	c := group("auth", "See and change the accounts at model services",
		&cobra.Command{Use: "list", Short: "List the accounts, without their keys", Args: cobra.NoArgs, RunE: a.run(list)},
		add,
		&cobra.Command{Use: "login PROVIDER", Short: "Log in at a service, in the browser or with a code", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return login(ctx, a, args[0]) })},
		&cobra.Command{Use: "remove PROVIDER:NAME", Short: "Forget an account and its key", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return removeAccount(ctx, a, args[0]) })},
		&cobra.Command{Use: "order PROVIDER [PROVIDER:NAME...]", Short: "Say which account is used first; none: they take turns", Args: cobra.MinimumNArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return orderAccounts(ctx, a, args) })},
		&cobra.Command{Use: "allow PROVIDER:NAME HOST", Short: "Let the key of an account go to one more host", Args: cobra.ExactArgs(2),
			RunE: a.run(func(ctx context.Context, args []string) error { return allowHost(ctx, a, args) })},
		&cobra.Command{Use: "import [PROGRAM]", Short: "Use the login of another program; without a name: list them", Args: cobra.MaximumNArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return importLogin(ctx, a, args) })},
	)
	c.RunE = a.run(list)
	return c
}

func listAccounts(ctx context.Context, a *app) error {
	var st protocol.ModelsAuthStatus
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodModelsAuthStatus, nil, &st); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(st)
	}
	var rows [][]string
	for _, p := range st.Providers {
		for _, x := range p.Profiles {
			ends := "-"
			if x.ExpiresAt > 0 {
				ends = stamp(x.ExpiresAt)
			}
			rows = append(rows, []string{x.ProfileID, x.Type, x.Source, x.Status, ends, line(strings.Join(x.Hosts, ", "))})
		}
	}
	if len(rows) == 0 {
		return a.out().print("There is no account. `hearth models auth add PROVIDER` stores a key, `login PROVIDER` logs in.\n")
	}
	return a.out().table([]string{"ACCOUNT", "TYPE", "FROM", "STATE", "ENDS", "KEY GOES TO"}, rows)
}

// addKey takes the key from a prompt that shows nothing, or from a pipe. Never
// from the command line, which other programs can read.
func addKey(ctx context.Context, a *app, p protocol.ModelsAuthSetKeyParams) error {
	raw, err := a.typed("The key of " + line(p.Provider) + " (it is not shown): ")
	if err != nil {
		return err
	}
	p.APIKey = raw
	var res protocol.ModelsAuthSetKeyResult
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodModelsAuthSetAPIKey, p, &res); err != nil {
		return err
	}
	return a.done(res, "Stored as "+line(res.ProfileID)+".")
}

func login(ctx context.Context, a *app, provider string) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeAdmin}})
	if err != nil {
		return err
	}
	defer c.Close()
	var st protocol.ModelsAuthLogin
	if err := c.Call(ctx, protocol.MethodModelsAuthLogin, protocol.ModelsAuthLoginParams{Provider: provider}, &st); err != nil {
		return err
	}
	words := "Open this page on this computer and log in:\n  " + line(st.URL) + "\n"
	if st.UserCode != "" {
		words = "Open " + line(st.URL) + "\nand type the code " + line(st.UserCode) + "\n"
	}
	if err := a.errs().print(words, "Waiting until "+time.UnixMilli(st.ExpiresAt).Format("15:04")+" …\n"); err != nil {
		return err
	}
	for {
		var w protocol.ModelsAuthWait
		if err := c.Call(ctx, protocol.MethodModelsAuthWait, protocol.ModelsAuthWaitParams{LoginID: st.LoginID, TimeoutMs: 20_000}, &w); err != nil {
			return err
		}
		switch w.State {
		case "done":
			return a.done(w, "You are logged in: "+line(w.ProfileID)+".")
		case "failed":
			return &failure{exitFailure, line(w.Error), "start again with `hearth models auth login " + line(provider) + "`"}
		}
	}
}

func removeAccount(ctx context.Context, a *app, id string) error {
	provider, _, _ := strings.Cut(id, ":")
	var res protocol.ModelsAuthLogoutResult
	p := protocol.ModelsAuthLogoutParams{Provider: provider, ProfileIDs: []string{id}}
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodModelsAuthLogout, p, &res); err != nil {
		return err
	}
	if len(res.Removed) == 0 {
		return &failure{exitFailure, "there is no stored account " + line(id), "`hearth models auth` lists them; keys of hearth.json are removed with `hearth config`, those of the environment where they are set"}
	}
	return a.done(res, "Forgotten. The key still works at the service until you revoke it there.")
}

func orderAccounts(ctx context.Context, a *app, args []string) error {
	var res protocol.OKResult
	p := protocol.ModelsAuthOrderParams{Provider: args[0], ProfileIDs: args[1:]}
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodModelsAuthOrderSet, p, &res); err != nil {
		return err
	}
	if len(args) == 1 {
		return a.done(res, "They take turns.")
	}
	return a.done(res, "Used in this order: "+line(strings.Join(args[1:], ", "))+".")
}

func allowHost(ctx context.Context, a *app, args []string) error {
	var res protocol.OKResult
	p := protocol.ModelsAuthAllowParams{ProfileID: args[0], Host: args[1]}
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodModelsAuthAllow, p, &res); err != nil {
		return err
	}
	return a.done(res, "The key of "+line(args[0])+" may go to "+line(args[1])+" too.")
}

func importLogin(ctx context.Context, a *app, args []string) error {
	if len(args) == 1 {
		var res protocol.ModelsAuthSetKeyResult
		if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodModelsAuthImport, protocol.ModelsAuthImportParams{ID: args[0]}, &res); err != nil {
			return err
		}
		return a.done(res, strings.TrimSpace("Taken over as "+line(res.ProfileID)+". "+line(res.Warning)))
	}
	var l protocol.ForeignLogins
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodModelsAuthForeign, nil, &l); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(l)
	}
	var rows [][]string
	for _, x := range l.Logins {
		there := "not there"
		if x.Present {
			there = "there"
		}
		rows = append(rows, []string{x.ID, there, line(x.Path), x.Provider, x.Caution})
	}
	if err := a.out().table([]string{"PROGRAM", "ITS FILE", "WHERE", "FOR", "NOTE"}, rows); err != nil {
		return err
	}
	return a.out().print(fmt.Sprintln("\nNothing was read. `hearth models auth import PROGRAM` reads the login out of that file, and not the token that renews it."))
}
