package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newMCPLogin(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "login NAME", Short: "Log in at a service, in the browser", Args: cobra.ExactArgs(1),
		Long: "Log in at a service, in the browser: Hearth finds out where, makes itself known there and\n" +
			"keeps the login among your secrets, for this server's address only.",
		RunE: a.run(func(ctx context.Context, args []string) error { return loginMCP(ctx, a, args[0]) }),
	}
}

func newMCPLogout(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "logout NAME", Short: "Forget the login at a service", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error { return logoutMCP(ctx, a, args[0]) }),
	}
}

func loginMCP(ctx context.Context, a *app, name string) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeAdmin}})
	if err != nil {
		return err
	}
	defer c.Close()
	var l protocol.MCPLogin
	if err := c.Call(ctx, protocol.MethodMCPLogin, protocol.MCPServerParams{ID: name}, &l); err != nil {
		return err
	}
	if err := a.showLogin(&protocol.ModelsAuthLogin{LoginID: l.LoginID, Kind: "oauth", URL: l.URL, ExpiresAt: l.ExpiresAt}); err != nil {
		return err
	}
	for {
		var w protocol.MCPLoginState
		err := c.Call(ctx, protocol.MethodMCPLoginWait, protocol.MCPLoginWaitParams{LoginID: l.LoginID, TimeoutMs: int(loginStep.Milliseconds())},
			&w)
		if ctx.Err() != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortPatience)
			defer cancel()
			_ = c.Call(ctx, protocol.MethodMCPLoginWait, protocol.MCPLoginWaitParams{LoginID: l.LoginID, TimeoutMs: 1, Cancel: true}, &w)
			return errInterrupted
		}
		switch {
		case err != nil:
			return err
		case w.State == "done":
			return testMCP(ctx, a, name)
		case w.State == "failed":
			return &failure{exitFailure, "the login did not work: " + line(w.Error),
				"start it again with `hearth mcp login " + text.ShellWord(name) + "`"}
		}
	}
}

func logoutMCP(ctx context.Context, a *app, name string) error {
	var ok protocol.OKResult
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodMCPLogout, protocol.MCPServerParams{ID: name}, &ok); err != nil {
		return err
	}
	switch {
	case a.asJSON:
		return a.out().json(ok)
	case !ok.OK:
		return a.out().print("There was no login at ", bold(line(name)), ".\n")
	}
	return a.out().print("The login at ", bold(line(name)), " is forgotten. The service was told, if it takes such news; its own page of "+
		"connected programs shows what is left.\n")
}
