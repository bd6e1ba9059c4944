package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newTokens(a *app) *cobra.Command {
	list := func(ctx context.Context, _ []string) error { return listTokens(ctx, a) }
	var scopes []string
	var days int
	var create *cobra.Command
	create = &cobra.Command{
		Use: "create NAME", Short: "Make a token for a program; it is shown this once", Args: cobra.ExactArgs(1),
		Long: "Make a token for a program that comes in over HTTP. The token is printed this once and\nkept nowhere. What it may do:\n\n" +
			"  chat        talk to the assistant\n  models      list assistants and models\n  embeddings  have texts turned into vectors\n" +
			"  mcp         use Hearth's own tools by the Model Context Protocol\n" +
			"  metrics     read numbers about Hearth, as Prometheus does\n  owner       what the program says counts as said by you",
		Example: "  hearth tokens create notebook\n  hearth tokens create editor --scope chat,models --days 90",
		RunE: a.run(func(ctx context.Context, args []string) error {
			if days < 1 && create.Flags().Changed("days") {
				return &failure{exitUsage, "--days is at least 1", "leave it out for a token that works until you revoke it"}
			}
			if create.Flags().Changed("scope") && strings.TrimSpace(strings.Join(scopes, "")) == "" {
				return &failure{exitUsage, "--scope is empty, so the token would have no right",
					"name at least one, for example --scope chat; leave --scope out for chat,models,embeddings"}
			}
			return createToken(ctx, a, protocol.TokenCreateParams{Name: args[0], Scopes: scopes,
				LifeMs: int64(days) * (24 * time.Hour).Milliseconds()})
		}),
	}
	create.Flags().StringSliceVar(&scopes, "scope", nil, "what it may do; several with commas (default: chat,models,embeddings)")
	create.Flags().IntVar(&days, "days", 0, "how many days it works (default: until it is revoked)")
	c := group("tokens", "See, make and revoke tokens of programs that use Hearth over HTTP",
		&cobra.Command{Use: "list", Short: "List the tokens, and when each was last used", Args: cobra.NoArgs, RunE: a.run(list)},
		create,
		&cobra.Command{Use: "revoke NAME", Short: "End a token at once, by its name or id", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return revokeToken(ctx, a, args[0]) })},
	)
	c.RunE = a.run(list)
	return c
}

func listTokens(ctx context.Context, a *app) error {
	var res protocol.Tokens
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodTokensList, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if len(res.Tokens) == 0 {
		return a.out().print("No program has a token. `hearth tokens create NAME` makes one.\n")
	}
	var rows [][]string
	for _, t := range res.Tokens {
		rows = append(rows, []string{t.ID, t.State, strings.Join(t.Scopes, " "), stamp(t.CreatedAt), stamp(t.ExpiresAt), stamp(t.LastUsed),
			line(t.Name)})
	}
	return a.out().table([]string{"ID", "STATE", "MAY", "MADE", "UNTIL", "LAST USED", "NAME"}, rows)
}

func createToken(ctx context.Context, a *app, p protocol.TokenCreateParams) error {
	var res protocol.TokenCreated
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodTokensCreate, p, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	// The words go beside the token, so that it can be piped.
	words := "The token of " + line(res.Token.Name) + " (" + strings.Join(res.Token.Scopes, ", ") + "). It is shown this once; `hearth " +
		"tokens revoke` ends it.\n"
	if a.closedTo(ctx, res.Token.Scopes) {
		words += "The HTTP API is switched off now, and answers 404: `hearth config set gateway.http.endpoints.chatCompletions.enabled true` " +
			"switches it on.\n"
	}
	if err := a.errs().print(words); err != nil {
		return err
	}
	return a.out().print(res.Secret, "\n")
}

// closedTo: a token has only rights that open nothing on this machine now, as the
// HTTP API is off, which it is at first.
func (a *app) closedTo(ctx context.Context, scopes []string) bool {
	if a.gateway != "" || !slices.Contains(scopes, "chat") {
		return false
	}
	s, err := a.settings(ctx)
	if err != nil || !s.Valid {
		return false
	}
	for _, endpoint := range []string{"chatCompletions", "responses"} {
		if on, _, err := s.InUse("gateway.http.endpoints." + endpoint + ".enabled"); err != nil || string(on) == "true" {
			return false
		}
	}
	return true
}

func revokeToken(ctx context.Context, a *app, which string) error {
	var res protocol.TokenRevoked
	if err := a.call(ctx, protocol.ScopeAdmin, protocol.MethodTokensRevoke, protocol.TokenRevokeParams{Token: which}, &res); err != nil {
		return err
	}
	if res.Before {
		return a.done(res, line(res.Name)+" was revoked already, on "+stamp(res.RevokedAt)+"; nothing has changed.")
	}
	return a.done(res, "Revoked: "+line(res.Name)+". What it had under way has ended.")
}
