package outbound

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// uploadFactor: a file may take so many times as long as words.
const uploadFactor = 5

// keyed is a channel whose network takes a message key once, so that an
// uncertain message can be sent again without being seen twice.
type keyed interface{ TakesKeyOnce() bool }

// deliver takes one delivery to its end, waiting in between as it must, or to where
// it goes on in another lane.
func (d *Deliverer) deliver(ctx context.Context, lane string, seq uint64) (Delivery, error) {
	v, err := d.get(seq)
	if err != nil {
		return v, err
	}
	for v.State.Open() && v.lane() == lane {
		if err := d.await(ctx, v.NextAt); err != nil {
			return v, err
		}
		c := d.Channels(v.Channel, v.To.Account)
		if c == nil {
			d.later(&v, fmt.Sprintf("the channel %s (%s) is not connected", v.Channel, v.To.Account))
		} else if err := d.step(ctx, &v, c); err != nil {
			return v, err
		}
		if err := d.save(ctx, &v); err != nil {
			return v, err
		}
		failpoint.Hit("afterReceipt")
	}
	return v, nil
}

func (d *Deliverer) get(seq uint64) (v Delivery, err error) {
	err = d.db.View(func(tx *store.Tx) (err error) {
		v, _, err = d.rows.Get(tx, store.Uint64Key(seq))
		return err
	})
	return v, err
}

// await returns when the time has come.
func (d *Deliverer) await(ctx context.Context, at int64) error {
	wait := time.UnixMilli(at).Sub(d.Now())
	if at == 0 || wait <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// step sends the next message: the attempt is on disk before the request, and
// the caller saves the outcome.
func (d *Deliverer) step(ctx context.Context, v *Delivery, c channel.Channel) error {
	if v.Parts == nil {
		d.place(v, c)
		v.Parts = plan(v, d.Limits(c), c)
	}
	i := v.next()
	if i < 0 {
		if !v.pins() || d.pin(ctx, v, c) {
			d.finish(ctx, v, c)
		}
		return nil
	}
	if i == 0 && v.EditPreview && !d.editable(v, c) {
		v.EditPreview = false
	}
	v.State, v.Parts[i].State, v.NextAt = Sending, Sending, 0
	if err := d.save(ctx, v); err != nil {
		return err
	}
	failpoint.Hit("beforeSend")
	id, err := d.send(ctx, v, i, c)
	failpoint.Hit("afterSend")
	if err != nil {
		d.judge(v, i, c, err)
		return nil
	}
	v.Parts[i].State, v.Parts[i].MessageID = Delivered, id
	v.State, v.Reason, v.Attempts = Waiting, "", 0
	if v.next() < 0 && !v.stale() && !v.pins() {
		v.State = Delivered
	}
	return nil
}

// place decides, once, where a text goes whose preview was to be removed: where
// nothing can be removed it takes the preview's place.
func (d *Deliverer) place(v *Delivery, c channel.Channel) {
	if _, deletes := channel.AsDeleter(c); v.Preview != "" && v.Text != "" && !deletes {
		v.EditPreview = true
	}
}

// editable reports whether the network still lets the preview be edited.
func (d *Deliverer) editable(v *Delivery, c channel.Channel) bool {
	_, edits := channel.AsEditor(c)
	window := c.Limits().EditWindow
	return edits && (window == 0 || v.PreviewAt == 0 || d.Now().Sub(time.UnixMilli(v.PreviewAt)) < window)
}

// send makes the request, and lets it come to its end when Hearth stops.
func (d *Deliverer) send(ctx context.Context, v *Delivery, i int, c channel.Channel) (id string, err error) {
	limit := d.Retry.Timeout
	if len(v.Parts[i].Media) > 0 {
		limit *= uploadFactor
	}
	req, cancel := awake.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		t := time.NewTimer(d.Retry.Grace)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-req.Done():
		}
	})()
	p := v.Parts[i]
	to := v.To
	if !p.Reply {
		to.ReplyTo = ""
	}
	if e, ok := channel.AsEditor(c); ok && d.edits(v, i) {
		if _, ends := channel.AsFinisher(c); p.Text == v.PreviewText && !ends {
			return v.Preview, nil // it reads so already
		}
		if f, ok := channel.AsFinisher(c); ok {
			return v.Preview, f.Finish(req, v.To, v.Preview, p.Text)
		}
		return v.Preview, e.Edit(req, v.To, v.Preview, p.Text)
	}
	m := channel.Message{To: to, Text: p.Text, Media: p.Media, Manner: v.Manner, Key: fmt.Sprintf("%s/%d", v.ID, i)}
	if _, shows := channel.AsChooser(c); shows && i == v.asks() && len(v.Choices) <= c.Limits().Choices {
		m.Choices = v.Choices
	}
	r, err := c.Send(req, m)
	return r.MessageID, err
}

// edits says whether a part takes the preview's place.
func (d *Deliverer) edits(v *Delivery, i int) bool {
	return i == 0 && v.EditPreview && v.Preview != "" && v.Parts[0].Text != "" && len(v.Parts[0].Media) == 0
}

// repeatable says whether sending part i once more cannot show it twice.
func (d *Deliverer) repeatable(v *Delivery, i int, c channel.Channel) bool {
	if d.edits(v, i) {
		return true
	}
	k, ok := c.(keyed)
	return ok && k.TakesKeyOnce()
}

// editsTried is how often an edit may fail before the answer is sent anew: about half
// a minute, in which a network or its program comes back.
const editsTried = 6

// judge turns a failed request into the delivery's state.
func (d *Deliverer) judge(v *Delivery, i int, c channel.Channel, err error) {
	var limit *channel.RateLimit
	v.Parts[i].State = Waiting
	if d.edits(v, i) && !errors.As(err, &limit) && !errors.Is(err, channel.ErrRefused) && !errors.Is(err, channel.ErrAuth) {
		v.EditTried = true
	}
	switch {
	case errors.As(err, &limit):
		v.State, v.Reason = Waiting, err.Error()
		v.NextAt = d.Now().Add(max(limit.After, 0)).UnixMilli()
		d.giveUp(v)
	case d.edits(v, i) && !errors.Is(err, channel.ErrAuth) && (errors.Is(err, channel.ErrRefused) || v.Attempts >= editsTried):
		v.EditPreview = false // the preview is removed once the answer was sent
		v.State, v.NextAt = Waiting, 0
	case errors.Is(err, channel.ErrRefused) && !errors.Is(err, channel.ErrAuth) && len(v.Parts[i].Media) > 1:
		v.apart(i) // the network takes all files of a message or none
		v.State, v.NextAt = Waiting, 0
	case errors.Is(err, channel.ErrRefused) && !errors.Is(err, channel.ErrAuth) && len(v.Parts[i].Media) > 0:
		v.Parts[i].sayInstead(err)
		v.State, v.NextAt = Waiting, 0
	case errors.Is(err, channel.ErrRefused), errors.Is(err, channel.ErrAuth):
		v.Parts[i].State, v.State, v.Reason = Failed, Failed, err.Error()
	case unclear(err) && !d.repeatable(v, i, c):
		d.uncertain(v, i, err.Error())
	default:
		d.later(v, err.Error())
	}
}

// sayInstead makes words of a file that the network will not take, or that is
// not there any more: whoever waits for it is told.
func (p *Part) sayInstead(err error) {
	name := p.Media[0].Name
	if name == "" {
		name = "A file"
	}
	p.Problem = strings.TrimPrefix(err.Error(), channel.ErrRefused.Error()+": ")
	if r := []rune(p.Problem); len(r) > 300 {
		p.Problem = string(r[:299]) + "…"
	}
	p.Text = strings.TrimSpace(p.Text + "\n\n(" + name + " could not be sent: " + p.Problem + ".)")
	p.Media, p.State = nil, Waiting
}

// unclear: a request that was given up in the middle may have arrived.
func unclear(err error) bool {
	return errors.Is(err, channel.ErrUncertain) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func (d *Deliverer) uncertain(v *Delivery, i int, why string) {
	v.Parts[i].State, v.State = Uncertain, Uncertain
	v.Reason = why
	if n := len(v.Parts); n > 1 {
		v.Reason = fmt.Sprintf("message %d of %d: %s", i+1, n, why)
	}
}

// later sets the time of the next attempt.
func (d *Deliverer) later(v *Delivery, why string) {
	wait := d.Retry.Most
	if v.Attempts < 16 {
		wait = min(wait, d.Retry.First<<v.Attempts)
	}
	v.Attempts++
	wait = wait/2 + time.Duration(d.Rand()*float64(wait)/2)
	v.State, v.Reason, v.NextAt = Waiting, why, d.Now().Add(wait).UnixMilli()
	d.giveUp(v)
}

func (d *Deliverer) giveUp(v *Delivery) {
	if v.NextAt-v.CreatedAt > d.Retry.GiveUp.Milliseconds() {
		if v.removes() && !v.pins() { // the answer is there
			v.State, v.Stale, v.Reason, v.NextAt, v.Attempts = Delivered, v.Reason, "", 0, 0
			return
		}
		if v.pins() {
			v.Pinned, v.Unpinned, v.State, v.Reason, v.NextAt, v.Attempts = true, v.Reason, Waiting, "", 0, 0
			return
		}
		v.State, v.NextAt = Failed, 0
		v.Reason = fmt.Sprintf("given up after %v: %s", d.Retry.GiveUp, v.Reason)
	}
}

// finish closes a delivery whose messages are all confirmed, once the preview that
// was not used is removed. Where it stays, that is said.
func (d *Deliverer) finish(ctx context.Context, v *Delivery, c channel.Channel) {
	var err error
	if v.stale() {
		req, cancel := awake.WithTimeout(context.WithoutCancel(ctx), d.Retry.Grace)
		defer cancel()
		failpoint.Hit("beforeRemoval")
		err = d.remove(req, v, c)
		failpoint.Hit("afterRemoval")
	}
	var limit *channel.RateLimit
	switch {
	case err == nil:
	case errors.As(err, &limit):
		v.State, v.Reason = Waiting, removing(err)
		v.NextAt = d.Now().Add(max(limit.After, 0)).UnixMilli()
		d.giveUp(v)
		return
	case !errors.Is(err, channel.ErrRefused) && !errors.Is(err, channel.ErrAuth):
		d.later(v, removing(err))
		return
	default:
		v.Stale = err.Error()
	}
	v.State, v.Reason, v.NextAt, v.Attempts = Delivered, "", 0, 0
}

// pin pins the first message of a delivery, which arrived, and reports whether that is over.
func (d *Deliverer) pin(ctx context.Context, v *Delivery, c channel.Channel) bool {
	err := fmt.Errorf("%w: messages cannot be pinned there", channel.ErrRefused)
	if p, ok := channel.AsPinner(c); ok {
		req, cancel := awake.WithTimeout(context.WithoutCancel(ctx), d.Retry.Grace)
		defer cancel()
		err = p.Pin(req, v.To, v.Parts[0].MessageID, true)
	}
	var limit *channel.RateLimit
	why := func() string { return "it has arrived, and is not pinned yet: " + err.Error() }
	switch {
	case err == nil:
	case errors.As(err, &limit):
		v.State, v.Reason = Waiting, why()
		v.NextAt = d.Now().Add(max(limit.After, 0)).UnixMilli()
		d.giveUp(v)
		return false
	case !errors.Is(err, channel.ErrRefused) && !errors.Is(err, channel.ErrAuth):
		d.later(v, why())
		return false
	default:
		v.Unpinned = err.Error()
	}
	v.Pinned, v.Attempts = true, 0
	return true
}

func removing(err error) string {
	return "what was shown of the answer while it was written is not removed yet: " + err.Error()
}

// What is read in the place of a preview that can be edited and not removed.
const (
	elsewhere = "(The answer is a message of its own.)"
	brokenOff = "(This answer was broken off.)"
)

// remove takes a preview away. Where the network refuses that, words take the place
// of half an answer.
func (d *Deliverer) remove(ctx context.Context, v *Delivery, c channel.Channel) error {
	err := fmt.Errorf("%w: messages cannot be removed there", channel.ErrRefused)
	if del, ok := channel.AsDeleter(c); ok {
		err = del.Delete(ctx, v.To, v.Preview)
	}
	e, edits := channel.AsEditor(c)
	if !errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrAuth) || !edits || !d.editable(v, c) {
		return err
	}
	words := elsewhere
	if len(v.Parts) == 0 {
		words = brokenOff
	}
	if second := e.Edit(ctx, v.To, v.Preview, words); second != nil && !errors.Is(second, channel.ErrRefused) {
		return second
	} else if second != nil {
		return err
	}
	return nil
}
