package models

import (
	"context"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
)

func (f feature) cmdModel(ctx context.Context, key, args string) (string, error) {
	if args == "" || args == "list" || args == "status" {
		return f.words(key)
	}
	patch := protocol.SessionsPatchParams{Model: protocol.Patch[string]{Set: true}}
	said := "This session uses the default model again."
	if args != "default" {
		ref, ok := f.Choice.Match(args)
		if id, of := f.Choice.OfDefault(key, args); of {
			ref, ok = id, true
		}
		if !ok {
			ref = args
		}
		if err := f.Choice.Check(ref); err != nil {
			return f.Choice.Refusal(args), nil
		}
		if err := f.Choice.CheckAccount(ref); err != nil {
			return err.Error(), nil
		}
		patch.Model = protocol.PatchTo(f.Choice.Pin(key, ref))
		said = "This session now uses **" + ref + "**."
	}
	row, _, err := f.Sessions.Get(key)
	if err != nil {
		return "", err
	}
	busy := row.HasActiveRun || row.QueuedRuns > 0
	_, err = f.Sessions.Patch(ctx, key, patch)
	if busy {
		said += " The running answer switches to it at its next step."
	}
	return said, err
}

func (f feature) words(key string) (string, error) {
	row, _, err := f.Sessions.Get(key)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Model: **%s**\n\n", f.Choice.Words(row))
	aliases := choice.Section.Of(f.Settings.Snapshot().Config).Aliases
	for _, e := range f.Models.Models() {
		if !f.Choice.Allowed(e.Ref) {
			continue
		}
		one := fmt.Sprintf("`%s`", e.Ref)
		if a := aliases[e.Ref.String()]; a != "" {
			one += " (`" + a + "`)"
		}
		if e.ContextWindow > 0 {
			one = fmt.Sprintf("%s, %s tokens", one, choice.TokenCount(e.ContextWindow))
		}
		if !e.Tools {
			one = fmt.Sprintf("%s, without tools", one)
		}
		if !e.Available {
			one = fmt.Sprintf("%s is not available: %s", one, e.Reason)
		}
		b.WriteString("- " + one + "\n")
	}
	b.WriteString("\nChoose one with `/model provider/model`, an account with `/model provider/model@account`, go back with `/model default`.")
	return b.String(), nil
}
