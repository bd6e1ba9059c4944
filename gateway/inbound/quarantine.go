package inbound

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// What cannot be handled is put aside, told of, and kept until somebody says
// what should become of it.

// giveUp puts a message aside that cannot be handled, so that the next ones
// go on (F-CHAN-07).
func (g *Gate) giveUp(ctx context.Context, b *batch, cause error) {
	var first channel.Inbound
	var to channel.Target
	var q quarantineRow
	err := g.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		q = quarantineRow{}
		var text string
		var ids []string
		if b.sealed != nil {
			first, text, ids = b.sealed.First, b.sealed.Accepted.CommandBody, b.sealed.Accepted.MessageIDs
			to, q.Sealed = b.sealed.Accepted.Reply, b.sealed
		} else {
			rows, err := g.rowsOf(tx, b)
			if err != nil || len(rows) == 0 {
				return err
			}
			first, q.Rows = rows[0].In, rows
			to = answering(first)
			for _, r := range rows {
				text, ids = text+r.In.Text+"\n", append(ids, r.In.MessageID)
				if err := g.t.pending.Delete(tx, store.Uint64Key(r.Seq)); err != nil {
					return err
				}
			}
		}
		q.Quarantined = g.quarantined(first, text, ids, cause)
		if err := g.t.sealed.Delete(tx, store.Uint64Key(b.id)); err != nil {
			return err
		}
		return g.putAside(tx, q)
	}})
	if err != nil {
		b.delays++
		g.later(b, lastRetry)
		g.Logger.Error("a message that cannot be handled could not be put aside", "err", err)
		return
	}
	g.done(b)
	g.decide(RuleQuarantined, q.Reason, first, "", q.MessageIDs...)
	if first.Channel != "" {
		g.tell(ctx, first.Channel, to, asideWords)
	}
}

// asideWords answer a message that was put aside.
const asideWords = "I could not handle your message: something failed inside Hearth. It was put aside and is not lost; " +
	"the owner of this Hearth can try it again or drop it (`hearth deliveries`)."

// tell answers somebody who may write, beside the way of answers.
func (g *Gate) tell(ctx context.Context, channelID string, to channel.Target, text string) {
	if g.Tell != nil {
		g.Tell(ctx, channelID, to, text)
	}
}

func answering(in channel.Inbound) channel.Target {
	return channel.Target{Account: in.Account, Conversation: in.Conversation, Thread: in.Thread, ReplyTo: in.MessageID}
}

func (g *Gate) quarantined(in channel.Inbound, text string, ids []string, cause error) Quarantined {
	return Quarantined{
		At: g.Now().UnixMilli(), Reason: cut(strings.ToValidUTF8(cause.Error(), ""), 500), Preview: preview(text), Channel: in.Channel,
		Account: in.Account, Conversation: in.Conversation, SenderID: in.SenderID, MessageIDs: ids,
	}
}

func preview(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s[:min(len(s), 800)], "")), " ")
	return cut(s, 200)
}

func (g *Gate) putAside(tx *store.Tx, q quarantineRow) error {
	n, err := g.t.quarantine.NextSeq(tx)
	if err != nil {
		return err
	}
	return g.t.quarantine.Put(tx, store.Uint64Key(n), q)
}

// poisoned counts the failures of a message that could not even be kept. The
// network brings it again; the third time it is put aside.
func (g *Gate) poisoned(ctx context.Context, in channel.Inbound, cause error) error {
	aside := false
	q := quarantineRow{Quarantined: g.quarantined(in, in.Text, []string{in.MessageID}, cause), In: &in}
	err := g.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		aside = false
		k := messageKey(in)
		n, _, err := g.t.poison.Get(tx, k)
		if err != nil {
			return err
		}
		if n++; n < maxAttempts {
			return g.t.poison.Put(tx, k, n)
		}
		aside = true
		if err := g.t.poison.Delete(tx, k); err != nil {
			return err
		}
		if err := g.t.seen.Put(tx, k, seenRow{ReceivedAt: g.Now().UnixMilli()}); err != nil {
			return err
		}
		return g.putAside(tx, q)
	}})
	if err != nil {
		return errors.Join(cause, err)
	}
	if !aside {
		g.Logger.Warn("handling a message failed, the network will bring it again", "channel", in.Channel, "err", cause)
		return cause
	}
	g.decide(RuleQuarantined, q.Reason, in, "")
	if g.mayWrite(in) {
		g.tell(ctx, in.Channel, answering(in), asideWords)
	}
	return nil
}

// mayWrite asks the rules about the sender of a message that broke something.
func (g *Gate) mayWrite(in channel.Inbound) (may bool) {
	defer func() { may = recover() == nil && may }()
	if malformed(in) != "" {
		return false
	}
	c, ok, err := g.Contacts.Lookup(in.Channel, in.Account, in.SenderID)
	known := &c
	if !ok || in.Chat != channel.Direct {
		known = nil
	}
	return err == nil && g.Policy(in.Channel, in.Account).admit(in, known).rule == RuleAccepted
}

// Quarantine lists the messages that were put aside, the oldest first.
func (g *Gate) Quarantine() (out []Quarantined, err error) {
	err = g.DB.View(func(tx *store.Tx) error {
		for row, err := range g.t.quarantine.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			row.Value.ID = keySeq(row.Key)
			out = append(out, row.Value.Quarantined)
		}
		return nil
	})
	return out, err
}

var (
	// ErrNotAside: no message with this id is put aside.
	ErrNotAside = errors.New("no message with this id was put aside; it may have been decided already")
	// ErrNotWhole: an earlier Hearth kept only the beginning of the message.
	ErrNotWhole = errors.New("only the beginning of this message was kept, so it cannot be tried again; ask the person to send it once more")
)

// Drop forgets a message that was put aside.
func (g *Gate) Drop(ctx context.Context, id uint64) error {
	found := false
	err := g.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error {
		k := store.Uint64Key(id)
		found = g.t.quarantine.Has(tx, k)
		return g.t.quarantine.Delete(tx, k)
	}})
	if err == nil && !found {
		return ErrNotAside
	}
	return err
}

// Retry puts a message that was put aside in line again, with all its attempts.
func (g *Gate) Retry(ctx context.Context, id uint64) error {
	var row quarantineRow
	var refusal error
	var b *batch
	err := g.DB.Update(ctx, store.Write{
		Do: func(tx *store.Tx) (err error) {
			row, refusal, b = quarantineRow{}, nil, nil
			k, ok := store.Uint64Key(id), false
			if row, ok, err = g.t.quarantine.Get(tx, k); err != nil {
				return err
			}
			switch {
			case !ok:
				refusal = ErrNotAside
				return nil
			case row.In != nil:
				return g.t.seen.Delete(tx, messageKey(*row.In))
			case row.Sealed == nil && len(row.Rows) == 0:
				refusal = ErrNotWhole
				return nil
			}
			if b, err = g.again(tx, row); err != nil {
				return err
			}
			return g.t.quarantine.Delete(tx, k)
		},
		Then: func() {
			if b != nil {
				g.line(b)
			}
		},
	})
	switch {
	case err != nil:
		return fmt.Errorf("try a message again: %w", err)
	case refusal != nil:
		return refusal
	case row.In == nil:
		return nil
	}
	if err := g.receiveAgain(ctx, *row.In); err != nil {
		return fmt.Errorf("it failed again: %w", err)
	}
	return g.Drop(ctx, id)
}

// again lines up what was put aside after it had been kept.
func (g *Gate) again(tx *store.Tx, row quarantineRow) (*batch, error) {
	var b *batch
	if row.Sealed != nil {
		n, err := g.t.pending.NextSeq(tx)
		if err != nil {
			return nil, err
		}
		s := *row.Sealed
		s.Attempts = 0
		b = newBatch(pendingRow{Seq: n, In: s.First})
		b.sealed = &s
		return b, g.t.sealed.Put(tx, store.Uint64Key(n), s)
	}
	for _, r := range row.Rows {
		n, err := g.t.pending.NextSeq(tx)
		if err != nil {
			return nil, err
		}
		if r.Seq = n; b == nil {
			b = newBatch(r)
		} else {
			b.seqs = append(b.seqs, n)
		}
		if err := g.t.pending.Put(tx, store.Uint64Key(n), r); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (g *Gate) receiveAgain(ctx context.Context, in channel.Inbound) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = g.panicked(r)
		}
	}()
	return g.receive(ctx, in, true)
}

// panicked makes an error of a panic, and tells of it where it happened.
func (g *Gate) panicked(r any) error {
	g.Logger.Error("handling a message panicked", "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
	if g.Broken != nil {
		g.Broken("a message from a channel", r)
	}
	return fmt.Errorf("handling a message panicked: %v", r)
}
