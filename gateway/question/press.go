package question

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Words for who pressed something that does nothing.
const (
	unknownWords  = "This button leads nowhere (any more). Nothing was done."
	ownerWords    = "Only the owner of this assistant can answer this. Nothing was done."
	senderWords   = "This question is for somebody else. Nothing was done."
	answeredWords = "This was answered already."
	overWords     = "This question is over. Nothing was done."
	lateWords     = "Too late: the time for this question is over. Nothing was done."
)

// ErrOver means that a question ended while a press of it was on its way.
var ErrOver = errors.New("the question is over")

// Look says what a press means: the words that the button stands for, or those for who
// pressed when it does nothing. Of what came only the question's row is believed.
func (d *Desk) Look(in channel.Inbound, owner bool) (says, word string, err error) {
	id, option := parts(in.Press.Data)
	r, ok, err := d.get(id)
	if err != nil {
		return "", "", err
	}
	if !ok {
		return "", unknownWords, nil
	}
	says, word = r.judge(in, option, owner, d.o.Now())
	return says, word, nil
}

func parts(data string) (id string, option int) {
	id, number, ok := strings.Cut(data, ".")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || strconv.Itoa(n) != number {
		return "", -1
	}
	return id, n
}

// judge is Look for a row that is there.
func (r row) judge(in channel.Inbound, option int, owner bool, now time.Time) (says, word string) {
	elsewhere := r.Channel != in.Channel || r.To.Account != in.Account || r.To.Conversation != in.Conversation ||
		r.MessageID != "" && r.MessageID != in.Press.MessageID
	switch {
	case elsewhere || option < 0 || option >= len(r.Options):
		return "", unknownWords
	case r.Owner && !owner:
		return "", ownerWords
	case r.Sender != "" && r.Sender != in.SenderID:
		return "", senderWords
	case r.Press != "" && r.Press == in.Press.ID && r.By == in.SenderID:
		return r.Options[option].Says, "" // the network brings it again
	case r.Press != "":
		return "", answeredWords
	case r.State != open:
		return "", overWords
	case !now.Before(r.Until):
		return "", lateWords
	}
	return r.Options[option].Says, ""
}

// Take notes, in the transaction that accepts a press, that it is the answer. ErrOver
// means that another was first.
func (d *Desk) Take(tx *store.Tx, in channel.Inbound, owner bool) error {
	id, option := parts(in.Press.Data)
	r, ok, err := d.rows.Get(tx, []byte(id))
	if err != nil {
		return err
	}
	if !ok {
		return ErrOver
	}
	if _, word := r.judge(in, option, owner, d.o.Now()); word != "" {
		return ErrOver
	}
	if r.MessageID == "" { // its receipt was lost
		r.MessageID = in.Press.MessageID
	}
	r.By, r.Press = in.SenderID, in.Press.ID
	return d.end(tx, r, chosen(r.Options[option], in))
}

// chosen says which answer was given, and by whom where others can press too.
func chosen(o Option, in channel.Inbound) string {
	said := "✓ " + o.Label
	if name := oneLine(in.SenderName); name != "" && in.Chat != channel.Direct {
		said += " (" + name + ")"
	}
	return said
}

func oneLine(s string) string { return text.Ellipsis(strings.Join(strings.Fields(s), " "), 60) }

// Tell says a word to who pressed, without waiting for it.
func (d *Desk) Tell(in channel.Inbound, word string) {
	d.o.Work.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, sendTimeout)
		defer cancel()
		ch := d.o.Channels.Find(in.Channel, in.Account)
		if ch == nil {
			return
		}
		c, ok := channel.AsChooser(ch)
		if !ok {
			return
		}
		to := channel.Target{Account: in.Account, Conversation: in.Conversation, Thread: in.Thread}
		if err := c.Answer(ctx, to, in.SenderID, in.Press, word); err != nil {
			d.o.Logger.Warn("who pressed a button could not be told", "channel", in.Channel, "err", err)
		}
	})
}

// Taken tells who pressed that the answer was taken; the buttons go.
func (d *Desk) Taken(in channel.Inbound) {
	id, option := parts(in.Press.Data)
	r, ok, err := d.get(id)
	if err != nil || !ok || option < 0 || option >= len(r.Options) {
		return
	}
	d.Tell(in, "✓ "+r.Options[option].Label)
	d.Wake()
}
