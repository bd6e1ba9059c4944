package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/hearth-assistant/hearth/gateway/approval"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/inbound"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Files brings the files of messages.
type Files interface {
	// Take puts the files of a message into its turn.
	Take(ctx context.Context, a inbound.Accepted, turn *session.Turn) error
}

// Inbox takes the turns that package inbound let through.
type Inbox struct {
	Dispatcher *Dispatcher
	Files      Files
}

// Submit makes a turn durable. The gate's id is the run's id, so the same turn
// again changes nothing.
func (i Inbox) Submit(ctx context.Context, a inbound.Accepted) error {
	d := i.Dispatcher
	turn := session.Turn{
		RunID: a.ID, SessionKey: a.SessionKey, Text: a.CommandBody, ForAgent: a.Text, ReplyTo: a.Reply.ReplyTo, QuoteSelected: a.QuoteSelected,
		Owner: a.SenderIsOwner, Sender: a.SenderID, Outside: len(a.Prompt.Forwarded) > 0,
		Route: RouteOf(a).String(), Follows: a.ChatType == channel.Direct,
		Origin: &session.Origin{
			Label: a.Origin.Label, Provider: a.Origin.Provider, From: a.Origin.From, To: a.Origin.To, AccountID: a.Origin.AccountID,
			ThreadID: a.Origin.ThreadID, Room: a.Origin.Room, Space: a.Origin.Space, ChatType: string(a.ChatType), Sender: a.SenderName,
		},
	}
	if turn.Text == "" {
		turn.Text = a.Text // nothing was typed: a file, say
	}
	if word := d.ForOwner(turn.Text); word != "" && !a.SenderIsOwner {
		_, err := d.sessions.RunCommand(ctx, turn, func(context.Context) (string, error) { return command.NotForGuests(word), nil })
		return forGate(err)
	}
	d.hintedPrompt(&a, &turn)
	if len(a.Media) > 0 { // what was stopped after it was taken costs nothing again: what is heard in a sound may differ, too
		if taken, err := d.sessions.Accepted(a.ID); err != nil || taken {
			return forGate(err)
		}
	}
	if !d.IsCommand(a.CommandBody) { // a command has no use for files
		if err := i.Files.Take(ctx, a, &turn); err != nil {
			return err
		}
	}
	if a.SenderIsOwner {
		ctx = approval.WithDecider(ctx, approval.Decider{Name: a.Origin.Provider + ":" + a.SenderID, ID: a.Origin.Provider + ":" + a.SenderID,
			Message: true, Settings: true})
	}
	_, err := d.Accept(ctx, turn)
	return forGate(err)
}

// forGate tells the gate which failures say nothing about the message itself: it
// asks again later.
func forGate(err error) error {
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

// ForOwner tells the command of a message that only an owner may use, "" when
// there is none: whoever was merely let in must not change the owner's session.
func (d *Dispatcher) ForOwner(text string) string {
	if t, ok := policy.FindTrigger(text, policy.Section.Of(d.settings.Snapshot().Config).Triggers); ok {
		return t.Word
	}
	inv, ok := d.commands.Parse(text)
	if !ok {
		return ""
	}
	if c, _ := d.commands.Get(inv.Name); c.Guests {
		return ""
	}
	return "/" + inv.Name
}

// RouteOf is where the answer to a message of a network goes.
func RouteOf(a inbound.Accepted) channel.Route {
	return channel.Route{
		Channel: a.Origin.Provider, Account: a.Origin.AccountID, Conversation: a.Reply.Conversation, Thread: a.Reply.Thread, Chat: a.ChatType,
	}
}
