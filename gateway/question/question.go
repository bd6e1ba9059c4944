// Package question keeps questions that stand on messaging networks as messages with
// buttons: what each button says, who may press it, and until when. It is asked before
// anything is done with a press, takes the buttons away when a question is over, and
// keeps all of that over restarts. It does not decide what is asked, nor what an answer
// does: a press becomes the words that its button stands for, said by who pressed it,
// and goes the way of every message (package inbound).
package question

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/sleep"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Option is one answer.
type Option struct {
	Label string       `json:"label"`
	Says  string       `json:"says"` // what pressing it is the same as saying
	Tone  channel.Tone `json:"tone,omitempty"`
}

// Question is what is asked. Whoever may write in its conversation may answer, unless
// Owner or Sender says who.
type Question struct {
	Subject string         `json:"subject"` // what it is about; those of one subject are over together
	Channel string         `json:"channel"`
	To      channel.Target `json:"to"`
	Text    string         `json:"text"`
	Options []Option       `json:"options"`
	Owner   bool           `json:"owner,omitempty"`  // the owner alone may answer
	Sender  string         `json:"sender,omitempty"` // this person alone may
	Until   time.Time      `json:"until"`
}

// state is how far a question has come.
type state string

const (
	open    state = "open"
	closing state = "closing" // over; its buttons are to be taken away
	closed  state = "closed"
)

// row is a question as it is kept.
type row struct {
	Question
	ID        string    `json:"id"`
	MessageID string    `json:"messageId,omitempty"` // "" until the network confirmed it
	State     state     `json:"state"`
	Said      string    `json:"said,omitempty"` // how it ended, for people
	By        string    `json:"by,omitempty"`   // who pressed
	Press     string    `json:"press,omitempty"`
	Created   time.Time `json:"created"`
	Ended     time.Time `json:"ended,omitzero"`
}

// Channels are the messaging networks that are connected.
type Channels interface {
	// Find is the channel of a network and account, nil for none.
	Find(network, account string) channel.Channel
}

// Options of a Desk; all of them.
type Options struct {
	DB       *store.DB
	Channels Channels
	Work     Work
	Now      func() time.Time
	Logger   *slog.Logger
}

// Work goes on behind the call that began it.
type Work interface {
	Go(work func(ctx context.Context))
	Context() context.Context
}

// Desk holds the questions. Run takes away the buttons of those that are over.
type Desk struct {
	o    Options
	rows store.Bucket[row]
	wake chan struct{}
}

// New returns a desk on the store.
func New(o Options) *Desk {
	return &Desk{o: o, rows: store.NewBucket[row]("questions"), wake: make(chan struct{}, 1)}
}

// Shows reports whether a channel can ask with so many buttons.
func Shows(ch channel.Channel, buttons int) bool {
	_, ok := channel.AsChooser(ch)
	return ok && buttons > 0 && buttons <= ch.Limits().Choices
}

// Place keeps a question whose message others deliver, in a transaction, and returns its
// buttons. Delivered hears later which message it became.
func (d *Desk) Place(tx *store.Tx, q Question) ([]channel.Choice, error) {
	r := row{Question: q, ID: newID(), State: open, Created: d.o.Now()}
	return r.choices(), d.rows.Put(tx, []byte(r.ID), r)
}

// Delivered hears of deliveries, and notes which message has the buttons of a question.
// It does not wait.
func (d *Desk) Delivered(v outbound.Delivery) {
	messageID := v.Asked()
	if v.State != outbound.Delivered || messageID == "" {
		return
	}
	id, _ := parts(v.Choices[0].Data)
	d.o.Work.Go(func(ctx context.Context) {
		d.change(ctx, id, func(r *row) {
			if r.MessageID == "" {
				r.MessageID = messageID
			}
		})
		d.Wake() // it may be over by now
	})
}

// newID is one that nobody can guess.
func newID() string { return strings.ToLower(rand.Text()[:20]) }

const sendTimeout = 30 * time.Second

// Ask keeps a question and sends it, without waiting for the network. When the network
// does not take it, unsent is called with the reason, if it is set: nothing was shown.
func (d *Desk) Ask(q Question, unsent func(error)) error {
	r := row{Question: q, ID: newID(), State: open, Created: d.o.Now()}
	if err := d.put(d.o.Work.Context(), r); err != nil {
		return fmt.Errorf("keep a question: %w", err)
	}
	d.o.Work.Go(func(ctx context.Context) { d.send(ctx, r.ID, unsent) })
	return nil
}

func (d *Desk) send(ctx context.Context, id string, unsent func(error)) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	r, ok, err := d.get(id)
	if err != nil || !ok || r.State != open { // it was decided meanwhile: nobody needs to be asked
		return
	}
	ch := d.o.Channels.Find(r.Channel, r.To.Account)
	err = errors.New("the network is not connected")
	var got channel.Receipt
	if ch != nil {
		got, err = d.show(ctx, ch, r)
	}
	switch {
	case err == nil:
		d.change(ctx, id, func(r *row) { r.MessageID = got.MessageID })
		d.Wake() // it may be over by now
	case errors.Is(err, channel.ErrUncertain) || ctx.Err() != nil:
		d.o.Logger.Warn("a question may or may not have arrived", "channel", r.Channel, "err", err)
	default:
		d.o.Logger.Warn("a question could not be asked with buttons", "channel", r.Channel, "err", err)
		d.change(context.WithoutCancel(ctx), id, func(r *row) { r.State, r.Ended = closed, d.o.Now() })
		if unsent != nil {
			unsent(err)
		}
	}
}

// tries is how often a network may ask to wait.
const tries = 3

func (d *Desk) show(ctx context.Context, ch channel.Channel, r row) (got channel.Receipt, err error) {
	for range tries {
		got, err = ch.Send(ctx, channel.Message{To: r.To, Text: r.Text, Choices: r.choices(), Key: "question:" + r.ID})
		var limit *channel.RateLimit
		if !errors.As(err, &limit) {
			return got, err
		}
		if sleep.For(ctx, limit.After) != nil {
			return got, err
		}
	}
	return got, err
}

// choices are its buttons. What comes back names the question and the answer: it is
// looked up, and nobody can guess it.
func (r row) choices() (out []channel.Choice) {
	for i, o := range r.Options {
		out = append(out, channel.Choice{Data: r.ID + "." + strconv.Itoa(i), Label: o.Label, Tone: o.Tone})
	}
	return out
}

// Over ends the questions of a subject that nobody answered by a button, and says why.
func (d *Desk) Over(subject, said string) {
	ctx := context.WithoutCancel(d.o.Work.Context())
	err := d.o.DB.Update(ctx, store.Write{Must: true, Then: d.Wake, Do: func(tx *store.Tx) error {
		all, err := d.all(tx)
		if err != nil {
			return err
		}
		for _, r := range all {
			if r.Subject == subject && r.State == open {
				if err := d.end(tx, r, said); err != nil {
					return err
				}
			}
		}
		return nil
	}})
	if err != nil {
		d.o.Logger.Error("the end of a question could not be kept", "err", err)
	}
}

// Subjects are those of the questions that are open.
func (d *Desk) Subjects() (out []string, err error) {
	err = d.o.DB.View(func(tx *store.Tx) error {
		out = nil
		all, err := d.all(tx)
		for _, r := range all {
			if r.State == open {
				out = append(out, r.Subject)
			}
		}
		return err
	})
	return out, err
}

func (d *Desk) end(tx *store.Tx, r row, said string) error {
	r.State, r.Said, r.Ended = closing, said, d.o.Now()
	return d.rows.Put(tx, []byte(r.ID), r)
}

func (d *Desk) all(tx *store.Tx) (out []row, err error) {
	for e, err := range d.rows.Scan(tx, store.Range{}) {
		if err != nil {
			return nil, err
		}
		out = append(out, e.Value)
	}
	return out, nil
}

func (d *Desk) get(id string) (r row, ok bool, err error) {
	err = d.o.DB.View(func(tx *store.Tx) (err error) {
		r, ok, err = d.rows.Get(tx, []byte(id))
		return err
	})
	return r, ok, err
}

func (d *Desk) put(ctx context.Context, r row) error {
	return d.o.DB.Update(ctx, store.Write{Must: true, Do: func(tx *store.Tx) error { return d.rows.Put(tx, []byte(r.ID), r) }})
}

// change changes a question that is there.
func (d *Desk) change(ctx context.Context, id string, do func(*row)) {
	err := d.o.DB.Update(context.WithoutCancel(ctx), store.Write{Must: true, Do: func(tx *store.Tx) error {
		r, ok, err := d.rows.Get(tx, []byte(id))
		if err != nil || !ok {
			return err
		}
		do(&r)
		return d.rows.Put(tx, []byte(id), r)
	}})
	if err != nil {
		d.o.Logger.Error("a question could not be kept", "err", err)
	}
}

// shown is what the message of a question reads when it is over.
func (r row) shown() string {
	if r.Said == "" {
		return r.Text
	}
	return strings.TrimRight(r.Text, "\n") + "\n\n" + text.Ellipsis(r.Said, 300)
}
