package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newModelsAuth(a *app) *cobra.Command {
	list := func(ctx context.Context, _ []string) error { return listAccounts(ctx, a) }
	var add authAdd
	addCmd := &cobra.Command{Use: "add [SERVICE]", Short: "Add a key, asked for without showing it or read from standard input",
		Args: cobra.MaximumNArgs(1),
		Long: "Add a key of a model service. It is asked for without showing it, or read from\n" +
			"standard input; it is no argument, because other programs can see those. Many keys\n" +
			"tell their service by how they begin. The key is tried at once.",
		Example: "  hearth models auth add\n  hearth models auth add openai --name work < key.txt",
		RunE:    a.run(func(ctx context.Context, args []string) error { return addAccount(ctx, a, append(args, "")[0], add) })}
	addCmd.Flags().StringVar(&add.name, "name", "", "of the account, when you have several at one service")
	addCmd.Flags().BoolVar(&add.token, "token", false, "it is a bearer token, not a key")
	addCmd.Flags().BoolVar(&add.noTest, "no-test", false, "do not try it")
	var accounts []string
	logout := &cobra.Command{Use: "logout SERVICE", Short: "Remove the accounts of a service, or those named", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { return logoutAccounts(ctx, a, args[0], accounts) })}
	logout.Flags().StringArrayVar(&accounts, "account", nil, "only this account; may be given several times")
	c := group("auth", "Look after accounts at model services",
		&cobra.Command{Use: "list", Short: "List the accounts, and which of them rest", Args: cobra.NoArgs, RunE: a.run(list)},
		addCmd,
		&cobra.Command{Use: "login [SERVICE]", Short: "Log in at a service, in the browser or with a code", Args: cobra.MaximumNArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return loginAccount(ctx, a, append(args, "")[0]) })},
		logout,
		&cobra.Command{Use: "remove ACCOUNT", Short: "Forget one account and its key", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error {
				provider, _, _ := strings.Cut(args[0], ":")
				return logoutAccounts(ctx, a, provider, args)
			})},
		&cobra.Command{Use: "import [PROGRAM]", Short: "Take over the login of another program, or the keys of the environment (env); alone " +
			"it lists them", Args: cobra.MaximumNArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return importLogin(ctx, a, append(args, "")[0]) })},
		&cobra.Command{Use: "order SERVICE [ACCOUNT…]", Short: "In which order accounts are used; without accounts they take turns",
			Args: cobra.MinimumNArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return orderAccounts(ctx, a, args[0], args[1:]) })},
		&cobra.Command{Use: "allow ACCOUNT HOST", Short: "Let the key of an account be sent to one more address", Args: cobra.ExactArgs(2),
			RunE: a.run(func(ctx context.Context, args []string) error { return allowHost(ctx, a, args[0], args[1]) })},
	)
	c.RunE = a.run(list)
	return c
}

func listAccounts(ctx context.Context, a *app) error {
	var s protocol.ModelsAuthStatus
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodModelsAuthStatus, nil, &s); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(s)
	}
	return printAccounts(a.out(), s.Providers)
}

func printAccounts(out screen, providers []protocol.ModelsAuthProvider) error {
	var rows [][]string
	for _, p := range providers {
		for i := range p.Profiles {
			r := &p.Profiles[i]
			rows = append(rows, []string{r.ProfileID, kindOf(r.Type), from(r.Source), accountState(r), strings.Join(r.Hosts, ", ")})
		}
	}
	if len(rows) == 0 {
		return out.print("There are no accounts at model services. Add a key with `hearth models auth add`, or log in with `hearth models " +
			"auth login`.\n")
	}
	return out.table([]string{"ACCOUNT", "KIND", "FROM", "STATE", "KEY GOES TO"}, rows)
}

func kindOf(typ string) string {
	switch typ {
	case "api_key":
		return "key"
	case "oauth":
		return "login"
	}
	return typ
}

func from(source string) string {
	switch source {
	case "stored":
		return "keychain or vault"
	case "config":
		return "settings"
	case "env":
		return "environment"
	}
	return source
}

func accountState(r *protocol.ModelsAuthProfile) string {
	u, err := r.Rest()
	switch {
	case r.Status == "missing":
		return "the key is gone"
	case err == nil && u.DisabledUntil > time.Now().UnixMilli():
		return "switched off until " + clock(u.DisabledUntil) + because(u.DisabledReason)
	case err == nil && u.CooldownUntil > time.Now().UnixMilli():
		s := "rests until " + clock(u.CooldownUntil) + because(u.CooldownReason)
		if u.CooldownModel != "" {
			s += " for " + u.CooldownModel
		}
		return s
	case r.Status == "expired":
		return "is renewed with the next question"
	case r.Email != "":
		return "ok · " + r.Email
	}
	return "ok"
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + strings.ReplaceAll(reason, "_", " ") + ")"
}

type authAdd struct {
	name          string
	token, noTest bool
}

type authAddJSON struct {
	protocol.ModelsAuthSetKeyResult
	Test *protocol.ModelsTestResult `json:"test,omitempty"`
}

func addAccount(ctx context.Context, a *app, provider string, o authAdd) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeAdmin}})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := a.keepable(ctx, c); err != nil {
		return err
	}
	key, err := a.typed("Key (it is not shown): ")
	if err != nil {
		return fmt.Errorf("read the key: %w", err)
	}
	var res protocol.ModelsAuthSetKeyResult
	err = c.Call(ctx, protocol.MethodModelsAuthSetAPIKey, protocol.ModelsAuthSetKeyParams{Provider: provider, APIKey: key, Name: o.name,
		Token: o.token}, &res)
	if err != nil {
		return accountFailure(err)
	}
	if !a.asJSON {
		if err := a.out().print("Kept as ", bold(line(res.ProfileID)), " in "+placeWords(res.Stored)+".\n"); err != nil {
			return err
		}
	}
	return a.tryAccount(ctx, c, res, o.noTest)
}

// accountFailure adds what to do to a refusal of a key.
func accountFailure(err error) error {
	var e *protocol.Error
	if errors.As(err, &e) && e.Details["reason"] == "provider" {
		return &failure{exitUsage, line(refusalWords(e)), "`hearth models auth add SERVICE` names it"}
	}
	return err
}

// tryAccount asks the first model of the service with the new account.
func (a *app) tryAccount(ctx context.Context, c *client.Client, res protocol.ModelsAuthSetKeyResult, noTest bool) error {
	out := authAddJSON{ModelsAuthSetKeyResult: res}
	if !noTest {
		test, err := a.testModel(ctx, c, protocol.ModelsTestParams{Provider: res.Provider, ProfileID: res.ProfileID})
		if err != nil {
			return err
		}
		out.Test = &test
	}
	if a.asJSON {
		if err := a.out().json(out); err != nil {
			return err
		}
	}
	if out.Test != nil && !out.Test.OK {
		return &failure{exitAnswer, "the account is kept, but it did not work", "what to do stands above; `hearth models auth logout " +
			line(res.Provider) + " --account " + line(res.ProfileID) + "` removes it"}
	}
	return nil
}

func placeWords(place string) string {
	switch place {
	case "keychain":
		return "the system's keychain"
	case "vault":
		return "the vault, under your passphrase"
	case "plain":
		return "a private file that is not encrypted"
	}
	return "Hearth's store of secrets"
}

// loginStep is how long one wait for a login lasts.
const loginStep = 25 * time.Second

func loginAccount(ctx context.Context, a *app, provider string) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeAdmin}})
	if err != nil {
		return err
	}
	defer c.Close()
	if provider == "" {
		return listLogins(ctx, a, c)
	}
	var l protocol.ModelsAuthLogin
	if err := c.Call(ctx, protocol.MethodModelsAuthLogin, protocol.ModelsAuthLoginParams{Provider: provider}, &l); err != nil {
		return err
	}
	if err := a.showLogin(&l); err != nil {
		return err
	}
	for {
		var w protocol.ModelsAuthWait
		err := c.Call(ctx, protocol.MethodModelsAuthWait, protocol.ModelsAuthWaitParams{LoginID: l.LoginID,
			TimeoutMs: int(loginStep.Milliseconds())}, &w)
		if ctx.Err() != nil {
			return a.giveUpLogin(ctx, c, l.LoginID)
		}
		switch {
		case err != nil:
			return err
		case w.State == "done":
			if !a.asJSON {
				if err := a.out().print("Logged in as ", bold(line(w.ProfileID)), ".\n"); err != nil {
					return err
				}
			}
			return a.tryAccount(ctx, c, protocol.ModelsAuthSetKeyResult{Provider: provider, ProfileID: w.ProfileID}, false)
		case w.State == "failed":
			return &failure{exitFailure, "the login did not work: " + line(w.Error), "start it again with `hearth models auth login " +
				line(provider) + "`"}
		}
	}
}

// showLogin tells the person what to do.
func (a *app) showLogin(l *protocol.ModelsAuthLogin) error {
	if a.asJSON {
		return a.errs().jsonLine(l)
	}
	if err := a.errs().print("Open this page and allow it:\n\n  ", bold(line(l.URL)), "\n\n"); err != nil {
		return err
	}
	if l.UserCode != "" {
		if err := a.errs().print("Type this code there:  ", bold(line(l.UserCode)), "\n\n"); err != nil {
			return err
		}
	}
	return a.errs().print(dim("Waiting until "+clock(l.ExpiresAt)+"… Ctrl-C gives up."), "\n")
}

// giveUpLogin ends a login that nobody waits for any more.
func (a *app) giveUpLogin(ctx context.Context, c *client.Client, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortPatience)
	defer cancel()
	_ = c.Call(ctx, protocol.MethodModelsAuthCancel, protocol.ModelsAuthWaitParams{LoginID: id}, nil)
	return errInterrupted
}

// listLogins shows where one can log in.
func listLogins(ctx context.Context, a *app, c *client.Client) error {
	var s protocol.ModelsAuthStatus
	if err := c.Call(ctx, protocol.MethodModelsAuthStatus, nil, &s); err != nil {
		return err
	}
	var rows [][]string
	for _, p := range s.Capabilities {
		for _, o := range p.LoginOptions {
			rows = append(rows, []string{p.Provider, o.Label})
		}
	}
	if a.asJSON {
		return a.out().json(s.Capabilities)
	}
	return a.out().table([]string{"SERVICE", "HOW"}, rows)
}

func logoutAccounts(ctx context.Context, a *app, provider string, accounts []string) error {
	var res protocol.ModelsAuthLogoutResult
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodModelsAuthLogout, protocol.ModelsAuthLogoutParams{Provider: provider,
		ProfileIDs: accounts}, &res); err != nil {
		return err
	}
	if len(res.Removed) == 0 {
		return &failure{exitFailure, "nothing was removed: " + line(provider) + " has no such account of Hearth's own",
			"`hearth models auth list` shows the accounts; keys of the settings and the environment are removed there"}
	}
	return a.done(res, "Forgotten: "+line(strings.Join(res.Removed, ", "))+". A key still works at its service until you revoke it there.")
}

func importLogin(ctx context.Context, a *app, id string) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeAdmin}})
	if err != nil {
		return err
	}
	defer c.Close()
	if id == "" {
		return listForeign(ctx, a, c)
	}
	var res protocol.ModelsAuthSetKeyResult
	if err := c.Call(ctx, protocol.MethodModelsAuthImport, protocol.ModelsAuthImportParams{ID: id}, &res); err != nil {
		return err
	}
	if res.Warning != "" && !a.asJSON {
		if err := a.errs().print(yellow("Note: "), line(res.Warning), "\n"); err != nil {
			return err
		}
	}
	if len(res.Imported) > 0 {
		return a.done(res, "Taken over as "+line(strings.Join(res.Imported, ", "))+".")
	}
	if !a.asJSON {
		if err := a.out().print("Taken over as ", bold(line(res.ProfileID)), ".\n"); err != nil {
			return err
		}
	}
	return a.tryAccount(ctx, c, res, false)
}

func listForeign(ctx context.Context, a *app, c *client.Client) error {
	var f protocol.ForeignLogins
	if err := c.Call(ctx, protocol.MethodModelsAuthForeign, nil, &f); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(f)
	}
	var rows [][]string
	for _, l := range f.Logins {
		state := "not there"
		if l.Present {
			state = "there"
		}
		rows = append(rows, []string{l.ID, l.Name, l.Path, state, l.Caution})
	}
	if err := a.out().table([]string{"PROGRAM", "NAME", "FILE", "LOGIN", "NOTE"}, rows); err != nil {
		return err
	}
	return a.out().print("\n" +
		"Nothing was read. `hearth models auth import PROGRAM` reads the login out of that file, and not the token that renews it. `hearth " +
		"models auth import env` stores the keys that the gateway has in its environment.\n")
}

func orderAccounts(ctx context.Context, a *app, provider string, accounts []string) error {
	var res protocol.OKResult
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodModelsAuthOrderSet, protocol.ModelsAuthOrderParams{Provider: provider,
		ProfileIDs: accounts}, &res); err != nil {
		return err
	}
	words := "The accounts of " + provider + " take turns."
	if len(accounts) > 0 {
		words = "The accounts of " + provider + " are used in this order: " + strings.Join(accounts, ", ") + "."
	}
	return a.done(res, line(words))
}

func allowHost(ctx context.Context, a *app, account, host string) error {
	var res protocol.OKResult
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodModelsAuthAllow, protocol.ModelsAuthAllowParams{ProfileID: account, Host: host},
		&res); err != nil {
		return err
	}
	return a.done(res, line("The key of "+account+" may be sent to "+host+" too."))
}
