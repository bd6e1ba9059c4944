package cli

import (
	"context"
	"errors"
	"time"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/move"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// sendMove offers this Hearth and follows it until it is on the other machine.
func sendMove(ctx context.Context, a *app, o sending) error {
	if !o.yes {
		ok, err := a.agree("Everything of this Hearth goes to the other machine, keys and identity included. This one answers nobody " +
			"from then\non, until `hearth move wake` is run here. Nothing happens before the other machine asks for it. Offer it? [y/N] ")
		if err != nil || !ok {
			return errors.Join(err, a.declined())
		}
	}
	var st protocol.MoveStatus
	if err := a.callSlowly(ctx, protocol.MethodMoveOffer, protocol.MoveOfferParams{Device: o.to}, &st); err != nil {
		return err
	}
	var code protocol.PairSetup
	if o.to == "" {
		c, err := a.dial(ctx, client.Options{Scopes: allScopes()}) // nobody gives more than they have
		if err != nil {
			return err
		}
		err = c.Call(ctx, protocol.MethodPairSetupCode, protocol.PairSetupParams{Access: "full"}, &code)
		_ = c.Close()
		if err != nil {
			return err
		}
	}
	if o.codeOnly {
		return a.done(code, code.SetupCode)
	}
	words := []any{"On the other machine, with Hearth installed and stopped, run\n\n    hearth move from ", line(code.SetupCode),
		"\n\nor name this gateway there (`hearth discover` lists them) and compare six digits here. Ctrl-C takes the offer back.\n"}
	if o.to != "" {
		words = []any{"On that machine run `hearth move from`, and the name that this gateway has there.\n"}
	}
	if err := a.errs().print(words...); err != nil {
		return err
	}
	err := followSend(ctx, a)
	if ctx.Err() != nil { // Ctrl-C: when it sleeps already, this does nothing
		after, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer stop()
		_ = a.callSlowly(after, protocol.MethodMoveOffer, protocol.MoveOfferParams{Withdraw: true}, nil)
	}
	return err
}

// followSend shows who asks, and how far the move is.
func followSend(ctx context.Context, a *app) error {
	bar := progress{a: a}
	asked := map[string]bool{}
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		st, running, err := a.moveState(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !running:
			return err
		case err != nil: // it starts again, asleep
		case st.Phase == "awake":
			return &failure{exitFailure, "the offer has ended, and this Hearth is awake", "`hearth move send` offers it again"}
		case st.Phase == move.Left:
			bar.end()
			return a.done(st, "The other machine has everything. This Hearth sleeps now; `hearth move status` says whether the other is awake.")
		case st.Packed:
			bar.show("brought", st.Have, st.Bytes)
		case st.Phase == move.Leaving:
			bar.show("packed", st.Have, 0)
		case st.Phase == "offered":
			if err := allowAsking(ctx, a, asked); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// allowAsking asks about machines that show six digits. They get all rights, which is what
// they ask for.
func allowAsking(ctx context.Context, a *app, asked map[string]bool) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopePairing}})
	if err != nil {
		return err
	}
	defer c.Close()
	var res protocol.PairedDevices
	if err := c.Call(ctx, protocol.MethodPairList, nil, &res); err != nil {
		return err
	}
	for _, r := range res.Pending {
		if r.Code == "" || asked[r.RequestID] {
			continue
		}
		asked[r.RequestID] = true
		if err := approveDevice(ctx, a, r.RequestID, "", true); err != nil {
			_ = a.errs().print(yellow("! "), line(explain(err).message), "\n")
		}
	}
	return nil
}
