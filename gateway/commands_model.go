package gateway

import (
	"context"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func (g *Gateway) cmdModel(ctx context.Context, key, args string) (string, error) {
	if args == "" || args == "list" || args == "status" {
		return g.listModels(key)
	}
	patch := protocol.SessionsPatchParams{Model: protocol.Patch[string]{Set: true}}
	said := "This session uses the default model again."
	if args != "default" {
		ref, ok := g.choice.Match(args)
		if id, of := g.choice.OfDefault(key, args); of {
			ref, ok = id, true
		}
		if !ok {
			ref = args
		}
		if err := g.choice.Check(ref); err != nil {
			return g.choice.Refusal(args), nil
		}
		if err := g.choice.CheckAccount(ref); err != nil {
			return err.Error(), nil
		}
		patch.Model = protocol.PatchTo(g.choice.Pin(key, ref))
		said = "This session now uses **" + ref + "**."
	}
	busy := g.dispatch.Busy(key)
	_, err := g.session.Patch(ctx, key, patch)
	if busy {
		said += " The running answer switches to it at its next step."
	}
	return said, err
}

func (g *Gateway) listModels(key string) (string, error) {
	row, _, err := g.session.Get(key)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Model: **%s**\n\n", g.choice.Words(row))
	aliases := g.config.Snapshot().Config.Agents.Defaults.Models
	for _, e := range g.models.Models() {
		if !g.choice.Allowed(e.Ref) {
			continue
		}
		fmt.Fprintf(&b, "- `%s`", e.Ref)
		if a := aliases[e.Ref.String()].Alias; a != "" {
			fmt.Fprintf(&b, " (`%s`)", a)
		}
		if e.ContextWindow > 0 {
			fmt.Fprintf(&b, ", %d tokens", e.ContextWindow)
		}
		if !e.Tools {
			b.WriteString(", without tools")
		}
		if !e.Available {
			fmt.Fprintf(&b, ": not available: %s", e.Reason)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nChoose one with `/model provider/model`, an account with `/model provider/model@account`, go back with `/model default`.")
	return b.String(), nil
}
