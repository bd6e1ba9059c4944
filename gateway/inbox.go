package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// inbox takes the turns that inbound let through.
type inbox struct{ g *Gateway }

// forOwner tells the command of a message that only an owner may use, "" when
// there is none: whoever was merely let in must not change the owner's session.
func (g *Gateway) forOwner(text string) string {
	if t, ok := policy.FindTrigger(text, g.config.Snapshot().Config.Session.ResetTriggers); ok {
		return t.Word
	}
	inv, ok := g.slash.Parse(text)
	if !ok {
		return ""
	}
	if forGuests(inv.Name) {
		return ""
	}
	return "/" + inv.Name
}

// Submit makes a turn durable. The gate's id is the run's id, so the same turn
// again changes nothing.
func (i inbox) Submit(ctx context.Context, a inbound.Accepted) error {
	g := i.g
	turn := session.Turn{
		RunID: a.ID, SessionKey: a.SessionKey, Text: a.CommandBody, ForAgent: a.Text, ReplyTo: a.Reply.ReplyTo, QuoteSelected: a.QuoteSelected,
		Owner: a.SenderIsOwner, Sender: a.SenderID, Outside: len(a.Prompt.Forwarded) > 0,
		Route: routeOf(a).String(),
		Origin: &session.Origin{
			Label: a.Origin.Label, Provider: a.Origin.Provider, From: a.Origin.From, To: a.Origin.To, AccountID: a.Origin.AccountID,
			ThreadID: a.Origin.ThreadID, ChatType: string(a.ChatType),
		},
	}
	if turn.Text == "" {
		turn.Text = a.Text // nothing was typed: a file, say
	}
	if word := g.forOwner(turn.Text); word != "" && !a.SenderIsOwner {
		_, err := g.session.RunCommand(ctx, turn, func(context.Context) (string, error) { return notForGuests(word), nil })
		return busyIfPassing(err)
	}
	g.hintedPrompt(&a, &turn)
	if err := g.arrivals.take(ctx, a, &turn); err != nil {
		return err
	}
	if a.SenderIsOwner {
		ctx = approval.WithDecider(ctx, approval.Decider{Name: a.Origin.Provider + ":" + a.SenderID, ID: a.Origin.Provider + ":" + a.SenderID, Message: true})
	}
	_, err := g.accept(ctx, turn)
	return busyIfPassing(err)
}

// busyIfPassing marks what says nothing about the message itself.
func busyIfPassing(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, session.ErrConflict), errors.Is(err, session.ErrQueueFull):
		return fmt.Errorf("%w: %v", inbound.ErrRefused, err)
	case errors.Is(err, session.ErrClosed), errors.Is(err, store.ErrFull), errors.Is(err, store.ErrFailed),
		errors.Is(err, store.ErrGone), errors.Is(err, store.ErrClosed):
		return fmt.Errorf("%w: %v", inbound.ErrBusy, err)
	}
	return err
}

// renew begins a session anew when it has become old (session.md,
// "Lifecycle"). Expiry is looked at only when a message arrives, and never
// under a running answer.
func (g *Gateway) renew(ctx context.Context, turn session.Turn) error {
	row, ok, err := g.session.Get(turn.SessionKey)
	if err != nil || !ok || row.HasActiveRun || row.QueuedRuns > 0 || row.MessageCount == 0 {
		return err
	}
	if _, known, err := g.session.Known(turn); known || err != nil {
		return err // the same message again
	}
	channelID := ""
	if turn.Origin != nil {
		channelID = turn.Origin.Provider
	}
	c := g.config.Snapshot().Config
	rule, ok := resetRules(c).Holding(keyRules(c).Parse(turn.SessionKey), channelID, channel.Webchat)
	if !ok {
		return nil
	}
	now := g.opts.Now()
	if v := rule.Stale(method.Time(row.UpdatedAt), now, now.Location()); v.Stale {
		g.log.Info("a session has become old and begins anew", "session", turn.SessionKey, "rule", string(v.Rule))
		_, err = g.session.Reset(ctx, turn.SessionKey)
	}
	return err
}

// gatePolicy is who may write to an account of a channel.
func (g *Gateway) gatePolicy(channelID, account string) inbound.Policy {
	return channelPolicy(g.config.Snapshot().Config, channelID, account)
}

// tellStranger sends a pairing code. It does not pass the outbox: a code that
// is lost is asked for again.
func (g *Gateway) tellStranger(ctx context.Context, channelID string, to channel.Target, text string) {
	ch := g.channels.Find(channelID, to.Account)
	if ch == nil {
		return
	}
	if _, err := ch.Send(ctx, channel.Message{To: to, Text: text}); err != nil {
		g.log.Warn("a stranger could not be told their pairing code", "channel", channelID, "err", err)
	}
}

func (g *Gateway) noteDecision(d inbound.Decision) {
	g.log.Info("message from a channel", "rule", string(d.Rule), "detail", d.Detail, "channel", d.Channel, "account", d.Account,
		"conversation", d.Conversation, "run", d.RunID)
}

// routeOf is where the answer to a message of a network goes.
func routeOf(a inbound.Accepted) channel.Route {
	return channel.Route{
		Channel: a.Origin.Provider, Account: a.Origin.AccountID, Conversation: a.Reply.Conversation, Thread: a.Reply.Thread, Chat: a.ChatType,
	}
}
