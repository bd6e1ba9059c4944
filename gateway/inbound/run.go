package inbound

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	maxAttempts = 3
	firstRetry  = time.Second
	lastRetry   = 30 * time.Second
)

// Run takes up what an earlier run of the gateway left and hands turns to
// sessions until ctx ends. It must run once.
func (g *Gate) Run(ctx context.Context) error {
	if err := g.recover(ctx); err != nil {
		return fmt.Errorf("take up messages of the last run: %w", err)
	}
	close(g.up)
	for ctx.Err() == nil {
		g.tellSkipped(ctx)
		b, wait := g.next(g.Now())
		if b != nil {
			g.handOn(ctx, b)
			continue
		}
		if !g.sleep(ctx, wait) {
			break
		}
	}
	return nil
}

// sleep waits for a change or for d; negative means for a change only. It
// returns false when ctx has ended.
func (g *Gate) sleep(ctx context.Context, d time.Duration) bool {
	var fire <-chan time.Time
	if d >= 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		fire = timer.C
	}
	select {
	case <-g.wake:
	case <-fire:
	case <-ctx.Done():
		return false
	}
	return true
}

// recover lines up what is on disk, in the order in which it came.
func (g *Gate) recover(ctx context.Context) error {
	var list []*batch
	open := map[string]*batch{}
	err := g.DB.View(func(tx *store.Tx) error {
		sealed := map[uint64]*sealedRow{}
		var rows []pendingRow
		for row, err := range g.t.sealed.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			s := row.Value
			seq := keySeq(row.Key)
			sealed[seq] = &s
			rows = append(rows, pendingRow{Seq: seq, In: s.First})
		}
		for row, err := range g.t.pending.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			rows = append(rows, row.Value)
		}
		sortRows(rows)
		for _, row := range rows {
			b := newBatch(row)
			b.sealed = sealed[row.Seq]
			b.past = g.DB.Past(row.at())
			if o := open[b.stream]; o != nil && b.sealed == nil && len(o.seqs) < maxBatch {
				o.seqs = append(o.seqs, row.Seq)
				continue
			}
			open[b.stream] = b
			if b.sealed != nil {
				delete(open, b.stream)
				b.attempts = b.sealed.Attempts
			}
			list = append(list, b)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(list) > 0 && list[0].sealed != nil {
		// The first in line is the one that a crash may have come from.
		list[0].attempts++
		list[0].crashed = true
		if err := g.countAttempt(ctx, list[0]); err != nil {
			return err
		}
	}
	g.mu.Lock()
	g.ready = append(list, g.ready...)
	g.tellAt = g.Now() // what an earlier run did not get to say
	g.mu.Unlock()
	if len(list) > 0 {
		g.Logger.Info("took up messages that had not reached their session", "turns", len(list))
	}
	return nil
}

// handOn gives one batch to its session. Whatever it does, the gate goes on.
func (g *Gate) handOn(ctx context.Context, b *batch) {
	switch {
	case b.past:
		g.giveUp(ctx, b, errors.New("Hearth was restored from a backup that is older than it, so it may have been answered"))
		return
	case b.attempts >= maxAttempts:
		g.giveUp(ctx, b, errors.New("Hearth stopped while handling it, again and again"))
		return
	}
	err := g.submit(ctx, b)
	switch {
	case err == nil:
		g.done(b)
		if b.sealed == nil {
			return // nothing was left of it
		}
		g.settle(ctx, b)
		detail := ""
		if b.sealed.Accepted.PossibleRepeat {
			detail = "possible repeat: the same words were here a moment ago"
		}
		g.decide(RuleAccepted, detail, b.sealed.First, b.sealed.Accepted.ID, b.sealed.Accepted.MessageIDs...)
	case errors.Is(err, ErrRefused):
		g.done(b)
		g.settle(ctx, b)
		g.decide(RuleRefused, err.Error(), b.sealed.First, b.sealed.Accepted.ID, b.sealed.Accepted.MessageIDs...)
		g.tell(ctx, b.sealed.First.Channel, b.sealed.Accepted.Reply, "Your message was not taken: "+strings.TrimPrefix(err.Error(),
			ErrRefused.Error()+": ")+". Please send it again later.")
	case passing(ctx, err):
		if b.crashed { // it was not the message that stopped us
			b.crashed = false
			b.attempts--
			err = errors.Join(err, g.countAttempt(ctx, b))
		}
		b.delays++
		g.later(b, min(firstRetry<<min(b.delays-1, 5), lastRetry))
		g.Logger.Warn("a message could not be handed on yet", "err", err)
	default:
		b.attempts++
		if b.attempts >= maxAttempts {
			g.giveUp(ctx, b, err)
			return
		}
		if cerr := g.countAttempt(ctx, b); cerr != nil {
			g.Logger.Warn("a failed attempt could not be noted", "err", cerr)
		}
		g.later(b, firstRetry<<(2*(b.attempts-1)))
		g.Logger.Warn("handling a message failed, it is tried again", "attempt", b.attempts, "err", err)
	}
}

func (g *Gate) later(b *batch, d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b.retryAt = g.Now().Add(d)
}

// submit seals the batch if it is not, and gives it to the session.
func (g *Gate) submit(ctx context.Context, b *batch) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = g.panicked(r)
		}
	}()
	if b.sealed == nil {
		if err := g.sealBatch(ctx, b); err != nil || b.sealed == nil {
			return err
		}
		failpoint.Hit("inboundSealed")
	}
	if err := g.Sessions.Submit(ctx, b.sealed.Accepted); err != nil {
		return err
	}
	failpoint.Hit("inboundSubmitted")
	return nil
}

func (g *Gate) sealBatch(ctx context.Context, b *batch) error {
	set := g.Settings()
	var row *sealedRow
	err := g.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		row = nil
		rows, err := g.rowsOf(tx, b)
		if err != nil || len(rows) == 0 {
			return err
		}
		row, err = g.seal(tx, b.id, rows, set)
		return err
	}})
	if err == nil {
		b.sealed = row
	}
	return err
}

func (g *Gate) rowsOf(tx *store.Tx, b *batch) (rows []pendingRow, err error) {
	for _, seq := range b.seqs {
		row, ok, err := g.t.pending.Get(tx, store.Uint64Key(seq))
		if err != nil {
			return nil, err
		}
		if ok {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// settle removes a turn that its session has taken. It does not wait: one that
// comes back after a crash has the same id.
func (g *Gate) settle(ctx context.Context, b *batch) {
	err := g.DB.Post(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		return g.t.sealed.Delete(tx, store.Uint64Key(b.id))
	}})
	if err != nil {
		g.Logger.Debug("a taken message stays in line until the next start", "err", err)
	}
}

func (g *Gate) countAttempt(ctx context.Context, b *batch) error {
	if b.sealed == nil {
		return nil
	}
	row := *b.sealed
	row.Attempts = b.attempts
	return g.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		return g.t.sealed.Put(tx, store.Uint64Key(b.id), row)
	}})
}
