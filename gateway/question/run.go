package question

import (
	"context"
	"errors"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/store"
)

const (
	// lookEvery is how often is looked for questions whose time is over.
	lookEvery = 30 * time.Second
	// tryFor is how long is tried to take buttons away: a press of one that stayed does
	// nothing anyway.
	tryFor = 6 * time.Hour
	// keepFor is how long is known what a button meant.
	keepFor = 7 * 24 * time.Hour

	// lost is after when nobody says any more which message a question became.
	lost = time.Hour

	firstRest, longestRest = 2 * time.Second, 5 * time.Minute
)

// Wake says that a question may be over. It does not block.
func (d *Desk) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// rest is when a question's buttons are tried again.
type rest struct {
	until time.Time
	last  time.Duration
}

// Run takes the buttons of questions away that are over, until ctx ends.
func (d *Desk) Run(ctx context.Context) {
	rests := map[string]rest{}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		wait := d.tidy(ctx, rests)
		var soon <-chan time.Time
		if wait > 0 {
			soon = time.After(wait)
		}
		select {
		case <-d.wake:
		case <-soon:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// tidy looks at every question once; wait is when the next try is due, 0: none is.
func (d *Desk) tidy(ctx context.Context, rests map[string]rest) (wait time.Duration) {
	var all []row
	err := d.o.DB.View(func(tx *store.Tx) (err error) {
		all, err = d.all(tx)
		return err
	})
	if err != nil {
		d.o.Logger.Error("questions could not be read", "err", err)
		return 0
	}
	now := d.o.Now()
	for _, r := range all {
		switch {
		case ctx.Err() != nil:
			return 0
		case r.State == open && !now.Before(r.Until):
			d.change(ctx, r.ID, func(r *row) {
				if r.State == open {
					r.State, r.Said, r.Ended = closing, "The time for this question is over.", now
				}
			})
			d.Wake()
		case r.State == closing && (now.Sub(r.Ended) > tryFor || r.MessageID == "" && now.Sub(r.Ended) > lost):
			d.change(ctx, r.ID, func(r *row) { r.State = closed })
		case r.State == closing && r.MessageID != "" && now.Before(rests[r.ID].until):
			wait = sooner(wait, rests[r.ID].until.Sub(now))
		case r.State == closing && r.MessageID != "":
			if again := d.settle(ctx, r); again > 0 {
				last := min(max(2*rests[r.ID].last, firstRest, again), longestRest)
				rests[r.ID] = rest{now.Add(last), last}
				wait = sooner(wait, last)
				continue
			}
			delete(rests, r.ID)
		case r.State == closed && now.Sub(r.Ended) > keepFor:
			d.forget(ctx, r.ID)
		}
	}
	return wait
}

func sooner(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// settle takes the buttons of a question away; again is how long to wait before it is
// tried once more, 0 when it is done or never will be.
func (d *Desk) settle(ctx context.Context, r row) (again time.Duration) {
	ch := d.o.Channels.Find(r.Channel, r.To.Account)
	if ch == nil {
		return firstRest
	}
	c, ok := channel.AsChooser(ch)
	if !ok {
		return firstRest // its program does not run yet
	}
	ask, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	err := c.Settle(ask, r.To, r.MessageID, r.shown())
	var limit *channel.RateLimit
	switch {
	case err == nil:
	case errors.As(err, &limit):
		return max(limit.After, firstRest)
	case errors.Is(err, channel.ErrRefused), errors.Is(err, channel.ErrAuth):
		d.o.Logger.Warn("the buttons of a question could not be taken away", "channel", r.Channel, "err", err)
	default:
		return firstRest
	}
	d.change(ctx, r.ID, func(r *row) { r.State = closed })
	return 0
}

func (d *Desk) forget(ctx context.Context, id string) {
	err := d.o.DB.Update(ctx, store.Write{Do: func(tx *store.Tx) error { return d.rows.Delete(tx, []byte(id)) }})
	if err != nil {
		d.o.Logger.Warn("an old question could not be forgotten", "err", err)
	}
}
