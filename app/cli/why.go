package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newWhy(a *app) *cobra.Command {
	var key string
	c := &cobra.Command{
		Use: "why [ID]", Short: "Tell how a message was dealt with (default: the last one)", Args: cobra.MaximumNArgs(1),
		Long: "Tells how a message was dealt with: what became of it, which model answered and\n" +
			"why that one, what it waited for, and how it ended.\n\n`hearth queue` and `hearth chat --json` show the ids of messages.",
		RunE: a.run(func(ctx context.Context, args []string) error { return runWhy(ctx, a, key, args) }),
	}
	c.Flags().StringVar(&key, "session", "", "the last message of this conversation (default: the main one)")
	return c
}

func runWhy(ctx context.Context, a *app, key string, args []string) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopeRead}})
	if err != nil {
		return err
	}
	defer c.Close()
	p := protocol.WhyParams{Key: key}
	if key == "" {
		p.Key = mainSession(c.Hello())
	}
	if len(args) == 1 {
		p = protocol.WhyParams{RunID: args[0]}
	}
	var w protocol.Why
	if err := c.Call(ctx, protocol.MethodWhy, p, &w); err != nil {
		if refused(err, "NOT_FOUND") {
			if key != "" && len(args) == 0 {
				if err := sessionThere(ctx, c, key); err != nil {
					return err
				}
			}
			return &failure{exitFailure, "there is no such message", "`hearth why` alone explains the last one of the main conversation"}
		}
		return err
	}
	if a.asJSON {
		return a.out().json(w)
	}
	return printWhy(a.out(), &w)
}

func printWhy(out screen, w *protocol.Why) error {
	head := []any{bold(line(string(w.State)))}
	if w.Model != "" {
		head = append(head, " by ", line(w.Model))
	}
	if err := out.print(append(head, "\n", dim("message "+line(w.RunID)+" in "+line(w.SessionKey)), "\n\n")...); err != nil {
		return err
	}
	if err := out.print("  ", stamp(w.AcceptedAt), "  accepted\n"); err != nil {
		return err
	}
	steps := []struct {
		at   int64
		what string
	}{{w.StartedAt, "started"}, {w.EndedAt, "ended"}}
	for _, s := range steps {
		if s.at > 0 {
			if err := out.print("  ", after(w.AcceptedAt, s.at), "  ", s.what, "\n"); err != nil {
				return err
			}
		}
	}
	if w.Attempts > 1 {
		if err := out.print("  ", count(w.Attempts, "attempt"), ", because Hearth stopped in between\n"); err != nil {
			return err
		}
	}
	if w.AnsweredIn != "" {
		if err := out.print("  answered together with message ", line(w.AnsweredIn), "\n"); err != nil {
			return err
		}
	}
	var rows [][]string
	for _, r := range w.Reasons {
		rows = append(rows, []string{after(w.AcceptedAt, r.At), string(r.Rule), r.Detail})
	}
	if len(rows) == 0 {
		return nil
	}
	if err := out.print("\n"); err != nil {
		return err
	}
	return out.table([]string{"AFTER", "RULE", "WHY"}, rows)
}

// after is how long after the first time the second was.
func after(from, to int64) string {
	d := time.Duration(max(0, to-from)) * time.Millisecond
	if d < time.Minute {
		return fmt.Sprintf("+%.1f s", d.Seconds())
	}
	return "+" + span(d)
}
