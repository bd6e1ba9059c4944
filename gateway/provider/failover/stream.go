package failover

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// Stream asks the candidate in use and goes on to others when it fails. What a
// failed attempt has said is not said again: the next one goes on from there.
// Tool calls are handed over only when the stream that holds them has ended
// well.
func (r *Run) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		c := &call{Run: r, ctx: ctx, req: req, yield: yield}
		if err := c.answer(); err != nil && !errors.Is(err, errLeft) {
			yield(model.Event{}, err)
		}
	}
}

// errLeft: the reader broke off.
var errLeft = errors.New("the reader left")

// maxContinued is how often an answer that broke off is taken up: by the same
// model, and by another one.
const maxContinued = 2

// call is one request.
type call struct {
	*Run
	ctx   context.Context
	req   model.Request
	yield func(model.Event, error) bool

	said      string // text that was handed over
	continued int    // how many attempts went on from it
	lost      model.Usage
	usage     model.Usage // of this attempt
	began     time.Time   // the first attempt that failed, of this candidate and account
	repeats   int
	rotated   int
}

func (c *call) answer() error {
	if err := c.begin(); err != nil {
		return err
	}
	for {
		start := c.e.o.Now()
		err := c.ask()
		switch {
		case err == nil:
			c.note(start, "")
			return nil
		case errors.Is(err, errLeft), c.ctx.Err() != nil:
			c.note(start, ReasonAborted)
			return err
		}
		if err := c.after(err, start); err != nil {
			return err
		}
		c.lost, c.usage = c.lost.Add(c.usage), model.Usage{}
	}
}

// begin follows the person's choice, and starts over where an earlier request
// of the run had exhausted the chain.
func (c *call) begin() error {
	switched, err := c.reselect(c.ctx)
	if err != nil || switched || c.open {
		return err
	}
	if err := c.choose(c.ctx, c.sel); err != nil {
		return err
	}
	return c.seek(c.ctx)
}

// note tells what a call used that failed no account.
func (c *call) note(start time.Time, reason Reason) {
	c.session.Noted(c.ctx, Attempt{Ref: c.ref(), Account: c.account(), Reason: reason, Usage: c.usage, At: start,
		Took: c.e.o.Now().Sub(start)})
}

func (c *call) emit(ev model.Event) error {
	if !c.yield(ev, nil) {
		return errLeft
	}
	return nil
}

// ask makes one attempt.
func (c *call) ask() error {
	over := overlap{said: c.said}
	var calls []model.Event
	for ev, err := range c.target.Provider.Stream(c.ctx, c.request()) {
		if err == nil {
			switch ev.Kind {
			case model.EventText:
				err = c.text(over.next(ev.Text))
			case model.EventToolCall:
				calls = append(calls, ev)
			case model.EventUsage:
				c.usage, ev.Usage = ev.Usage, c.lost.Add(ev.Usage)
				err = c.emit(ev)
			case model.EventStop:
				if err = c.finish(&over, calls); err == nil {
					err = c.emit(ev)
				}
				return err
			default:
				err = c.emit(ev)
			}
		}
		if err != nil {
			return err
		}
	}
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	return c.finish(&over, calls)
}

func (c *call) text(s string) error {
	if s == "" {
		return nil
	}
	c.land(c.ctx)
	c.said += s
	return c.emit(model.Event{Kind: model.EventText, Text: s})
}

// finish hands over what was held back until the stream had ended well.
func (c *call) finish(over *overlap, calls []model.Event) error {
	c.land(c.ctx)
	if err := c.text(over.rest()); err != nil {
		return err
	}
	for _, ev := range calls {
		if err := c.emit(ev); err != nil {
			return err
		}
	}
	return nil
}

// after decides what follows a failure: nil is another attempt.
func (c *call) after(err error, start time.Time) error {
	reason, class, now := ReasonOf(err), classOf(err), c.e.o.Now()
	if reason == ReasonLiveSwitch {
		if switched, serr := c.reselect(c.ctx); switched || serr != nil {
			c.fresh()
			return serr
		}
	}
	if !reason.Advances() || c.said != "" && c.continued >= maxContinued {
		c.fail(c.ctx, err, start, c.usage)
		return err
	}
	if c.said != "" {
		c.continued++
	}
	if c.began.IsZero() {
		c.began = start
	}
	if switched, serr := c.reselect(c.ctx); switched || serr != nil {
		c.note(start, reason) // what it used counts, whoever answers now
		c.fresh()
		return serr
	}
	t := trouble{class: class, asked: retryAfter(err), done: c.repeats, since: now.Sub(c.began), others: c.others(class),
		loading: c.target.Local && loading(err), maxWait: c.settings.MaxWait, jitter: c.e.o.Jitter()}
	if d, ok := t.pause(); ok {
		c.repeats++
		c.note(start, reason)
		return c.wait(d, reason)
	}
	c.fail(c.ctx, err, start, c.usage)
	return c.move(class, reason)
}

// others reports whether another account or another model is left.
func (c *call) others(class model.Class) bool {
	return c.at+1 < len(c.chain) || c.mayRotate(class)
}

func (c *call) mayRotate(class model.Class) bool {
	limit := c.settings.rotations(class)
	return len(c.accounts) > 1 && (limit < 0 || c.rotated < limit)
}

// move goes to the next account or the next candidate.
func (c *call) move(class model.Class, reason Reason) error {
	rotated := c.rotated
	if c.mayRotate(class) {
		if class == model.ClassOverloaded && c.settings.OverloadedBackoff > 0 {
			if err := c.wait(c.settings.OverloadedBackoff, reason); err != nil {
				return err
			}
		}
		c.fresh()
		c.rotated = rotated + 1
		c.accounts = c.accounts[1:]
		ok, err := c.resolve(c.ctx)
		if ok || err != nil {
			return err
		}
	}
	c.fresh()
	c.rollback(c.ctx)
	c.at++
	return c.seek(c.ctx)
}

// fresh forgets what belongs to one candidate and account.
func (c *call) fresh() { c.began, c.repeats, c.rotated = time.Time{}, 0, 0 }

func (c *call) wait(d time.Duration, reason Reason) error {
	c.session.Waiting(d, reason)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

func classOf(err error) model.Class {
	var c Classed
	if errors.As(err, &c) {
		return c.ModelClass()
	}
	return model.ClassOf(err)
}
