package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/command"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/session/policy"
)

// brokenWords answer a command that panicked.
const brokenWords = "This command failed inside Hearth, and nothing was changed by it as far as is known. The failure was written down: " +
	"`hearth doctor` shows it. Your message is not lost."

// guarded is command for which a panic is an answer too, on every surface.
func (d *Dispatcher) guarded(ctx context.Context, turn *session.Turn) (acc session.Accepted, ok bool, err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		d.log.Error("a command panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		d.incidents.Note(context.WithoutCancel(ctx), "a command", p)
		ok = true
		acc, err = d.sessions.RunCommand(ctx, *turn, func(context.Context) (string, error) { return brokenWords, nil })
	}()
	return d.command(ctx, turn)
}

// command carries a slash command out; ok is false when the text is an
// ordinary message, or one that calls a skill, which turn then says.
func (d *Dispatcher) command(ctx context.Context, turn *session.Turn) (acc session.Accepted, ok bool, err error) {
	ctx = command.WithSpeaker(ctx, d.speakerOf(*turn))
	if t, ok := policy.FindTrigger(turn.Text, policy.Section.Of(d.settings.Snapshot().Config).Triggers); ok {
		acc, err = d.newSession(ctx, *turn, t)
		return acc, true, err
	}
	found, said := d.directives(*turn)
	if len(found) > 0 && said != "" {
		*turn = d.Hinted(*turn)
		return d.skill(ctx, turn, said)
	}
	if len(found) > 0 {
		acc, err = d.sessions.RunCommand(ctx, *turn, func(ctx context.Context) (string, error) {
			return d.setLevels(ctx, turn.SessionKey, found)
		})
		return acc, true, err
	}
	inv, ok := d.commands.Parse(turn.Text)
	if !ok {
		if !command.IsStop(turn.Text) || !d.Busy(turn.SessionKey) {
			return d.skill(ctx, turn, turn.Text)
		}
		inv.Name = "stop"
	}
	do, ok := d.commands.Get(inv.Name)
	if !ok { // its feature is switched off
		return d.skill(ctx, turn, turn.Text)
	}
	before, _, _ := d.sessions.Get(turn.SessionKey)
	acc, err = d.sessions.RunCommand(ctx, *turn, func(ctx context.Context) (string, error) { return do.Do(ctx, turn.SessionKey, inv.Args) })
	if inv.Name == "stop" && err == nil && !acc.Duplicate {
		d.commanded(*turn, "stop", before)
	}
	return acc, true, err
}

// Busy reports whether a session answers, or has messages that wait.
func (d *Dispatcher) Busy(key string) bool {
	row, ok, err := d.sessions.Get(key)
	return err == nil && ok && (row.HasActiveRun || row.QueuedRuns > 0)
}

// newSession starts a session anew and answers what stands behind the trigger;
// /new may name the model of the new session first.
func (d *Dispatcher) newSession(ctx context.Context, turn session.Turn, t policy.Trigger) (session.Accepted, error) {
	if acc, known, err := d.sessions.Known(turn); known || err != nil {
		return acc, err
	}
	rest, ref := t.Rest, ""
	if t.Word == "/new" {
		if r, message, ok := d.models.Catalogue().SplitModel(t.Rest); ok {
			ref, rest = r, message
		} else if head, tail, _ := strings.Cut(t.Rest, " "); d.models.Check(head) == nil {
			ref, rest = head, strings.TrimSpace(tail) // a model of a known service that does not list it
		}
	}
	if err := d.models.CheckAccount(ref); ref != "" && err != nil {
		return d.sessions.RunCommand(ctx, turn, func(context.Context) (string, error) { return "Nothing was changed: " + err.Error() + ".", nil })
	}
	before, _, _ := d.sessions.Get(turn.SessionKey)
	if _, err := d.sessions.ResetIf(ctx, turn.SessionKey, turn.Expected); err != nil && !errors.Is(err, session.ErrNotFound) {
		return session.Accepted{}, err
	}
	action := "reset"
	if t.Word == "/new" {
		action = "new"
	}
	d.commanded(turn, action, before)
	turn.Expected = session.Expected{} // it is another one now
	turn.Title = "New session"
	if ref != "" {
		turn.Title += " with " + ref
		if _, err := d.sessions.Patch(ctx, turn.SessionKey, protocol.SessionsPatchParams{
			Model: protocol.PatchTo(d.models.Pin(turn.SessionKey, ref))}); err != nil {
			return session.Accepted{}, err
		}
	}
	if turn.ForAgent = rest; rest == "" {
		turn.ForAgent = d.firstWords(ctx, turn, t)
	} else {
		words := d.Hinted(session.Turn{SessionKey: turn.SessionKey, Text: rest, Owner: turn.Owner})
		turn.Title, turn.Hints, turn.ForAgent = cmp.Or(words.Title, rest), words.Hints, cmp.Or(words.ForAgent, rest)
	}
	return d.sessions.Submit(ctx, turn)
}
