package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/rules"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

const (
	// maxWorking is how many runs of hooks are at work at once.
	maxWorking = 4
	// retryAfter is the pause after something that is not there now.
	retryAfter = 5 * time.Second
	sweepEvery = time.Hour
)

// errTold: the note is there.
var errTold = errors.New("told already")

// run does what was accepted until ctx ends. What it leaves is begun again at the
// next start: a run has one id, and a second time changes nothing.
func (b *book) run(ctx context.Context) error {
	var work sync.WaitGroup
	defer work.Wait()
	b.tellAll(ctx)
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	b.sweep(ctx)
	for ctx.Err() == nil {
		r, ok := b.next()
		if !ok {
			select {
			case <-ctx.Done():
			case <-b.kick:
			case <-sweep.C:
				b.sweep(ctx)
			}
			continue
		}
		work.Go(func() {
			err := b.do(ctx, r)
			if err != nil && ctx.Err() == nil {
				b.o.Log.Warn("a hook waits to be tried again", "hook", r.Hook, "run", r.ID, "err", err)
				select {
				case <-ctx.Done():
				case <-time.After(retryAfter):
				}
			}
			b.back(r, err != nil)
			b.look()
		})
	}
	return nil
}

// do carries one row out; an error means again.
func (b *book) do(ctx context.Context, r row) error {
	if b.o.Store.Past(r.AcceptedAt) {
		return b.done(ctx, r, "skipped", "", "The webhook “"+r.Label+"” was left out: Hearth was restored from a backup that is older than it.")
	}
	if r.Kind == kindWake && r.WakeMode == nextHeartbeat {
		return b.note(ctx, r)
	}
	_, err := b.o.Dispatch.AcceptWords(ctx, b.turn(r), false)
	switch {
	case err == nil:
	case errors.Is(err, session.ErrQueueFull), errors.Is(err, session.ErrClosed), errors.Is(err, store.ErrFull),
		errors.Is(err, store.ErrClosed), ctx.Err() != nil:
		return err
	default: // it can never be done
		return b.done(ctx, r, "skipped", "", "The webhook “"+r.Label+"” could not be taken up: "+strings.TrimSuffix(err.Error(), ".")+".")
	}
	out, err := b.o.Sessions.Wait(ctx, r.ID)
	if err != nil {
		return err
	}
	said := ""
	if out.Message != nil {
		said = strings.TrimSpace(out.Message.Text())
	}
	switch {
	case out.Run.State != session.RunAnswered:
		return b.done(ctx, r, "error", "", "The webhook “"+r.Label+"” was not answered: "+
			strings.TrimSuffix(cmp.Or(out.Run.ErrorText, string(out.Run.State)), ".")+".")
	case said == "":
		return b.done(ctx, r, "ok", "empty", "")
	case said == "NO_REPLY":
		return b.done(ctx, r, "ok", "silent", "")
	case r.Kind == kindWake || !r.Deliver || r.Route != "": // it is in the conversation, or on its way
		return b.done(ctx, r, "ok", "visible", "")
	}
	return b.done(ctx, r, "ok", "visible", said)
}

// turn is the message of a row. It is nobody's: what hooks bring has the tools of
// strangers.
func (b *book) turn(r row) session.Turn {
	t := session.Turn{
		RunID: r.ID, SessionKey: r.Session, Text: strings.TrimSpace(r.Own + "\n\n" + r.Body), ForAgent: forAgent(r), Model: r.Model,
		Hints: session.Hints{Thinking: r.Thinking}, Outside: true, TimeoutMs: r.TimeoutMs, Mode: session.Followup, Route: r.Route,
		Origin: &session.Origin{Label: r.Label, Provider: protocol.ChannelHook, From: r.Hook},
		// A conversation of people stays where they hold it, and is called as it was.
		Passing: r.Kind == kindWake || r.Session == rules.Main(b.o.Settings, r.Agent),
	}
	if !t.Passing {
		t.Title = r.Label
	}
	return t
}

// forAgent is what the model reads: what the settings say as the owner's words, and
// what was sent as a stranger's.
func forAgent(r row) string {
	var out strings.Builder
	fmt.Fprintf(&out, "[The webhook “%s” was called. This is a message of Hearth, not of a person.", untrusted.Clean(r.Label))
	if r.Own == "" {
		out.WriteString(" Tell the person in short what it brought and what it means for them; say NO_REPLY if there is nothing to tell.")
	}
	out.WriteString("]")
	if r.Own != "" {
		out.WriteString("\n" + r.Own)
	}
	if r.Body != "" {
		out.WriteString("\n" + untrusted.Wrapper{}.Wrap("webhook "+r.Hook, r.Body))
	}
	return out.String()
}

// note leaves words for the next time that the assistant looks.
func (b *book) note(ctx context.Context, r row) error {
	_, err := b.o.Sessions.InjectNote(ctx, r.Session, session.Note{
		Label: "Webhook", Awaits: true, Text: strings.TrimSpace(r.Own + "\n\n" + r.Body), ForAgent: forAgent(r),
		With: func(tx *store.Tx) error {
			if !b.open.Has(tx, store.Uint64Key(r.Seq)) {
				return errTold
			}
			return b.end(tx, r, "ok", "")
		},
	})
	if errors.Is(err, errTold) {
		return nil
	}
	return err
}

// end writes that a row is done.
func (b *book) end(tx *store.Tx, r row, status, reply string) error {
	r.DoneAt, r.Status, r.Reply = b.o.Now().UnixMilli(), status, reply
	return errors.Join(b.rows.Put(tx, []byte(r.ID), r), b.open.Delete(tx, store.Uint64Key(r.Seq)))
}

// done ends a row and, in the same transaction, leaves what the main session is to
// be told.
func (b *book) done(ctx context.Context, r row, status, reply, say string) error {
	b.o.Log.Info("a hook is done", "hook", r.Hook, "run", r.ID, "session", r.Session, "status", status)
	err := b.o.Store.Update(context.WithoutCancel(ctx), store.Write{Must: true, Do: func(tx *store.Tx) error {
		if err := b.end(tx, r, status, reply); err != nil || say == "" {
			return err
		}
		return b.tell.Put(tx, []byte(r.ID), told{Label: r.Label, Main: rules.Main(b.o.Settings, r.Agent), Text: say})
	}})
	if err == nil && say != "" {
		b.tellAll(ctx)
	}
	return err
}

// tellAll tells results that were not told yet, each once.
func (b *book) tellAll(ctx context.Context) {
	all := map[string]told{}
	err := b.o.Store.View(func(tx *store.Tx) error {
		for at, err := range b.tell.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			all[string(at.Key)] = at.Value
		}
		return nil
	})
	for id, t := range all {
		_, noteErr := b.o.Sessions.InjectNote(ctx, t.Main, session.Note{
			Label: "Webhook " + t.Label, Text: t.Text, ForAgent: untrusted.Wrapper{}.Wrap("the answer to the webhook "+t.Label, t.Text),
			With: func(tx *store.Tx) error {
				if !b.tell.Has(tx, []byte(id)) {
					return errTold
				}
				return b.tell.Delete(tx, []byte(id))
			},
		})
		if noteErr != nil && !errors.Is(noteErr, errTold) {
			err = noteErr
		}
	}
	if err != nil && ctx.Err() == nil {
		b.o.Log.Warn("the answer to a hook could not be told yet", "err", err)
	}
}

// sweep clears away old conversations of single runs, and what is only kept to know
// calls again.
func (b *book) sweep(ctx context.Context) {
	at := b.o.Now()
	before := func(age time.Duration) []byte { return fmt.Appendf(nil, "hook:%012x", at.Add(-age).UnixMilli()) }
	var sessions, old []row
	err := b.o.Store.View(func(tx *store.Tx) error {
		for r, err := range b.rows.Scan(tx, store.Range{Before: before(keepSessions)}) {
			if err != nil {
				return err
			}
			switch {
			case r.Value.DoneAt == 0:
			case string(r.Key) < string(before(keepKeys)):
				old = append(old, r.Value)
			case r.Value.Single && !r.Value.Gone:
				sessions = append(sessions, r.Value)
			}
		}
		return nil
	})
	for _, r := range append(sessions, old...) {
		if err != nil || ctx.Err() != nil {
			break
		}
		if r.Single && !r.Gone {
			if _, err = b.o.Sessions.Delete(ctx, r.Session, false); err != nil {
				break
			}
		}
		r.Gone = true
		err = b.o.Store.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
			if string(r.ID) >= string(before(keepKeys)) {
				return b.rows.Put(tx, []byte(r.ID), r)
			}
			if k, ok, err := b.keys.Get(tx, []byte(r.Key)); err != nil || ok && k.Until >= at.UnixMilli() { // another call has it now
				return errors.Join(err, b.rows.Delete(tx, []byte(r.ID)))
			}
			return errors.Join(b.rows.Delete(tx, []byte(r.ID)), b.keys.Delete(tx, []byte(r.Key)))
		}})
	}
	if err != nil && ctx.Err() == nil {
		b.o.Log.Warn("old hooks could not be cleared away", "err", err)
	}
}
