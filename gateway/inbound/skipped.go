package inbound

import (
	"context"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// What waited at the network while Hearth was away is caught up with, within
// limits: an answer to words of the day before yesterday helps nobody, and a
// thousand messages would be answered for hours. What is left out is said to
// whoever wrote it (F-CHAN-06).

const (
	// skipAge is how old a message may be. It holds for what has a time.
	skipAge = 24 * time.Hour
	// clockAge: no network keeps messages for that long, so this machine's clock
	// is wrong, and no reason to leave anything out.
	clockAge = 30 * 24 * time.Hour
	// maxBacklog late messages of one person in one place are read.
	maxBacklog = 500
	// backlogOver is after how long without a late message the next one begins a
	// backlog of its own.
	backlogOver = time.Minute
)

// late counts what one person had written while Hearth was away.
type late struct {
	n    int
	last time.Time
}

// skippedRow is what was left out in a conversation and is still to be told.
type skippedRow struct {
	Channel string         `json:"channel"`
	To      channel.Target `json:"to"`
	Old     int            `json:"old,omitempty"`
	Many    int            `json:"many,omitempty"`
	From    int64          `json:"from"` // ms, when the first of them was written
	Until   int64          `json:"until"`
}

// isLate reports whether a message waited for Hearth to come back.
func isLate(in channel.Inbound, now time.Time) bool {
	return !in.At.IsZero() && now.Sub(in.At) > backlogAge
}

// leftOut says which rule leaves a message out, "" for none.
func (g *Gate) leftOut(in channel.Inbound, now time.Time) Rule {
	if !isLate(in, now) || now.Sub(in.At) > clockAge {
		return ""
	}
	if now.Sub(in.At) > skipAge {
		return RuleTooOld
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for k, l := range g.late {
		if now.Sub(l.last) > backlogOver {
			delete(g.late, k)
		}
	}
	stream := streamKey(in)
	l := g.late[stream]
	l.n, l.last = l.n+1, now
	g.late[stream] = l
	if l.n > maxBacklog {
		return RuleTooMany
	}
	return ""
}

// skip leaves a message out, durably and to be told.
func (g *Gate) skip(ctx context.Context, in channel.Inbound, rule Rule, now time.Time) error {
	key := conversationKey(in)
	var seen repeat
	err := g.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) (err error) {
		if seen, err = g.t.remember(tx, in, now); err != nil || seen.drop {
			return err
		}
		row, ok, err := g.t.skipped.Get(tx, key)
		if err != nil {
			return err
		}
		at := in.At.UnixMilli()
		if !ok {
			row = skippedRow{Channel: in.Channel, To: answering(in), From: at, Until: at}
			row.To.ReplyTo = ""
		}
		row.From, row.Until = min(row.From, at), max(row.Until, at)
		if rule == RuleTooOld {
			row.Old++
		} else {
			row.Many++
		}
		return g.t.skipped.Put(tx, key, row)
	}})
	if err != nil {
		return fmt.Errorf("note a message that is left out: %w", err)
	}
	if seen.drop {
		g.decide(seen.rule, seen.detail, in, "")
		return nil
	}
	g.mu.Lock()
	g.tellAt = now.Add(backlogWait)
	g.mu.Unlock()
	g.nudge()
	g.decide(rule, "it waited for Hearth to come back, and was left out", in, "")
	return nil
}

// tellSkipped says what was left out, once it is all that was, and forgets it.
func (g *Gate) tellSkipped(ctx context.Context) {
	g.mu.Lock()
	due := !g.tellAt.IsZero() && !g.tellAt.After(g.Now())
	if due {
		g.tellAt = time.Time{}
	}
	g.mu.Unlock()
	if !due {
		return
	}
	var rows []skippedRow
	err := g.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error {
		rows = nil
		var keys [][]byte
		for row, err := range g.t.skipped.Scan(tx, store.Range{}) {
			if err != nil {
				return err
			}
			rows, keys = append(rows, row.Value), append(keys, append([]byte(nil), row.Key...))
		}
		for _, k := range keys {
			if err := g.t.skipped.Delete(tx, k); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		g.Logger.Warn("what was left out could not be told yet", "err", err)
		g.mu.Lock()
		g.tellAt = g.Now().Add(lastRetry)
		g.mu.Unlock()
		return
	}
	for _, row := range rows {
		g.tell(ctx, row.Channel, row.To, row.words(g.Local))
	}
}

func (r skippedRow) words(local *time.Location) string {
	n, why := r.Old+r.Many, "they are older than a day"
	switch {
	case r.Old == 0:
		why = fmt.Sprintf("only the first %d of them are read", maxBacklog)
	case r.Many > 0:
		why = fmt.Sprintf("%d are older than a day, and of the others only the first %d are read", r.Old, maxBacklog)
	}
	if n == 1 && r.Many == 0 {
		why = "it is older than a day"
	}
	at := func(ms int64) string { return time.UnixMilli(ms).In(local).Format("2 January 15:04") }
	when := "from " + at(r.From) + " to " + at(r.Until)
	what := fmt.Sprintf("%d messages came here that I did not read", n)
	if n == 1 {
		what, when = "a message came here that I did not read", "of "+at(r.From)
	}
	return fmt.Sprintf("While I was away %s (%s): %s. Send again what still matters.", what, when, why)
}
