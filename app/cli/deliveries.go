package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newDeliveries(a *app) *cobra.Command {
	list := func(ctx context.Context, _ []string) error { return listDeliveries(ctx, a) }
	resolve := func(decision, words string) func(context.Context, []string) error {
		return func(ctx context.Context, args []string) error {
			return resolveDelivery(ctx, a, args[0], decision, words)
		}
	}
	c := group("deliveries", "See answers that have not reached their network, and messages that could not be handled",
		&cobra.Command{Use: "list", Short: "List the answers that wait, failed or may not have arrived", Args: cobra.NoArgs, RunE: a.run(list)},
		&cobra.Command{Use: "resend ID", Short: "Send a failed or uncertain one again; it may then arrive twice", Args: cobra.ExactArgs(1),
			RunE: a.run(resolve("resend", "It is being sent again."))},
		&cobra.Command{Use: "arrived ID", Short: "Say that an uncertain one has arrived", Args: cobra.ExactArgs(1),
			RunE: a.run(resolve("arrived", "Noted: it has arrived."))},
		&cobra.Command{Use: "retry ID", Short: "Try a message again that could not be handled and was put aside", Args: cobra.ExactArgs(1),
			RunE: a.run(resolve("retry", "It is being handled again; if it fails once more, it is put aside again."))},
		&cobra.Command{Use: "drop ID", Short: "Forget a message that was put aside", Args: cobra.ExactArgs(1),
			RunE: a.run(resolve("drop", "Forgotten."))},
	)
	c.RunE = a.run(list)
	return c
}

func listDeliveries(ctx context.Context, a *app) error {
	var res protocol.DeliveriesList
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodDeliveriesList, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if err := listAside(a, res.Aside); err != nil {
		return err
	}
	if err := listIncomplete(a, res.Incomplete); err != nil {
		return err
	}
	switch {
	case len(res.Deliveries) > 0:
		return a.out().table(deliveryHead(), deliveryRows(res.Deliveries))
	case len(res.Incomplete) > 0:
		return a.out().print("Every other answer has been delivered.\n")
	}
	return a.out().print("Every answer has been delivered.\n")
}

// listIncomplete shows the answers that arrived otherwise than they were meant.
func listIncomplete(a *app, list []protocol.DeliveryInfo) error {
	if len(list) == 0 {
		return nil
	}
	if err := a.out().print(bold("These answers arrived without a file (words in its place say so), or beside what was shown while they "+
		"were written:"), "\n"); err != nil {
		return err
	}
	rows := deliveryRows(list)
	for i := range rows {
		rows[i][1] = "without file"
		if list[i].Stale {
			rows[i][1] = "twice in part"
		}
	}
	if err := a.out().table(deliveryHead(), rows); err != nil {
		return err
	}
	return a.out().print("\n")
}

func deliveryHead() []string { return []string{"ID", "STATE", "TO", "SENT", "SINCE", "WHY AND WHAT"} }

func deliveryRows(list []protocol.DeliveryInfo) (rows [][]string) {
	for _, d := range list {
		state, about := d.State, d.Text
		if d.Draft {
			state += " draft"
		}
		if d.Reason != "" {
			about = d.Reason + " · " + d.Text
		}
		rows = append(rows, []string{
			d.ID, state, d.Channel + " " + d.Conversation, fmt.Sprintf("%d of %d", d.Sent, d.Parts), stamp(d.CreatedAt),
			text.Ellipsis(line(about), 200),
		})
	}
	return rows
}

// listAside shows the messages that could not be handled.
func listAside(a *app, list []protocol.AsideMessage) error {
	if len(list) == 0 {
		return nil
	}
	var rows [][]string
	for _, m := range list {
		rows = append(rows, []string{m.ID, m.Channel + " " + m.SenderID, stamp(m.At), text.Ellipsis(line(m.Reason+" · "+m.Text), 200)})
	}
	if err := a.out().print(bold("These messages could not be handled; `hearth deliveries retry ID` tries one again, `drop ID` forgets it:"),
		"\n"); err != nil {
		return err
	}
	if err := a.out().table([]string{"ID", "FROM", "SINCE", "WHY AND WHAT"}, rows); err != nil {
		return err
	}
	return a.out().print("\n")
}

func resolveDelivery(ctx context.Context, a *app, id, decision, words string) error {
	id, err := wholeDelivery(ctx, a, id)
	if err != nil {
		return err
	}
	var res protocol.OKResult
	err = a.call(ctx, protocol.ScopeWrite, protocol.MethodDeliveriesResolve, protocol.DeliveryResolveParams{ID: id, Decision: decision}, &res)
	var refusal *protocol.Error
	switch {
	case errors.As(err, &refusal) && refusal.Code == protocol.CodeInvalidRequest:
		return &failure{exitFailure, refusalWords(refusal), "`hearth deliveries` lists them; only failed and uncertain ones can be decided"}
	case err != nil:
		return err
	}
	return a.done(res, words)
}

// wholeDelivery completes the beginning of an id. What fits none is left to the gateway,
// which says so.
func wholeDelivery(ctx context.Context, a *app, id string) (string, error) {
	var res protocol.DeliveriesList
	if err := a.call(ctx, protocol.ScopeRead, protocol.MethodDeliveriesList, nil, &res); err != nil {
		return "", err
	}
	var ids []string
	for _, d := range res.Deliveries {
		ids = append(ids, d.ID)
	}
	for _, m := range res.Aside {
		ids = append(ids, m.ID)
	}
	found := ""
	for _, one := range ids {
		switch {
		case one == id:
			return id, nil
		case len(id) < leastOfID || !strings.HasPrefix(one, id):
		case found != "":
			return "", &failure{exitFailure, "more than one delivery has an id that begins with " + line(id),
				"give more of it; `hearth deliveries` lists them"}
		default:
			found = one
		}
	}
	return cmp.Or(found, id), nil
}
