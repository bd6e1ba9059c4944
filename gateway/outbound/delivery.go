package outbound

import (
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
)

// State is how far a delivery has come.
type State string

// The states of a delivery. Waiting covers a delivery that is to be tried
// again: Reason says why and NextAt when.
const (
	Waiting   State = "waiting"
	Sending   State = "sending"
	Delivered State = "delivered"
	Failed    State = "failed"    // the network will not take it; Resend tries again
	Uncertain State = "uncertain" // it may or may not have arrived; a person decides
)

// Open says whether a delivery goes on by itself.
func (s State) Open() bool { return s == Waiting || s == Sending }

// ReplyMode says which messages of a delivery answer the message that Target
// names in ReplyTo.
type ReplyMode string

// The values of replyToMode.
const (
	ReplyOff   ReplyMode = "off"
	ReplyFirst ReplyMode = "first" // the default
	ReplyAll   ReplyMode = "all"
)

// Delivery is one answer on its way to a channel.
type Delivery struct {
	// ID is the caller's: putting the same one again does nothing. It is part of
	// the key that networks see.
	ID      string          `json:"id"`
	Channel string          `json:"channel"`
	To      channel.Target  `json:"to"`
	Session string          `json:"session,omitempty"`
	RunID   string          `json:"runId,omitempty"`
	Text    string          `json:"text,omitempty"`
	Media   []channel.Media `json:"media,omitempty"`
	Reply   ReplyMode       `json:"reply,omitempty"`
	// Choices are buttons below the end of the text, where the network has them.
	Choices []channel.Choice `json:"choices,omitempty"`
	// Manner are wishes about how it is sent.
	Manner channel.Manner `json:"manner,omitzero"`
	// Pin: its first message is pinned when all are there.
	Pin bool `json:"pin,omitempty"`
	// Preview is the message that showed the answer while it was written. With
	// EditPreview the first message of the delivery takes its place, otherwise
	// it is removed once everything was sent.
	Preview     string `json:"preview,omitempty"`
	EditPreview bool   `json:"editPreview,omitempty"`
	// PreviewText is what the preview reads; an edit to the same is left out.
	PreviewText string `json:"previewText,omitempty"`
	// PreviewAt is when it was sent, 0: not long ago. Networks let a message be
	// edited for a while.
	PreviewAt int64 `json:"previewAt,omitempty"`
	// EditTried: an edit of the preview ended in a way that leaves open whether it
	// reads the answer.
	EditTried bool `json:"editTried,omitempty"`
	// Draft: it is about a preview alone, and no answer. OnState does not hear of it.
	Draft bool `json:"draft,omitempty"`

	// What follows is the Deliverer's. Times are milliseconds.
	Seq      uint64 `json:"seq,omitempty"`
	State    State  `json:"state,omitempty"`
	Parts    []Part `json:"parts,omitempty"`
	Attempts int    `json:"attempts,omitempty"` // in a row without success
	Reason   string `json:"reason,omitempty"`
	// Stale is why the preview stands in the chat beside the answer, which arrived.
	Stale string `json:"stale,omitempty"`
	// Pinned: the network was asked to pin it, and that is over; Unpinned is why it is not.
	Pinned    bool   `json:"pinned,omitempty"`
	Unpinned  string `json:"unpinned,omitempty"`
	NextAt    int64  `json:"nextAt,omitempty"`
	CreatedAt int64  `json:"createdAt,omitempty"`
	UpdatedAt int64  `json:"updatedAt,omitempty"`
}

// Part is one message of a delivery, with its own receipt.
type Part struct {
	Text      string          `json:"text,omitempty"`
	Media     []channel.Media `json:"media,omitempty"`
	Reply     bool            `json:"reply,omitempty"`
	State     State           `json:"state"`
	MessageID string          `json:"messageId,omitempty"` // the receipt
	// Problem is why the file of this message was not sent; its text says so.
	Problem string `json:"problem,omitempty"`
}

// Sent is how many messages were confirmed.
func (d *Delivery) Sent() (n int) {
	for _, p := range d.Parts {
		if p.State == Delivered {
			n++
		}
	}
	return n
}

// asks is the part that the buttons stand below, -1 for none.
func (d *Delivery) asks() int {
	if len(d.Choices) > 0 {
		for i, p := range slices.Backward(d.Parts) {
			if p.Text != "" {
				return i
			}
		}
	}
	return -1
}

// Asked is the message that has the buttons, "" before it is there.
func (d *Delivery) Asked() string {
	if i := d.asks(); i >= 0 {
		return d.Parts[i].MessageID
	}
	return ""
}

// next is the first part without a receipt, -1 when there is none.
func (d *Delivery) next() int {
	for i, p := range d.Parts {
		if p.State != Delivered {
			return i
		}
	}
	return -1
}

// Problem is why a file of the delivery was not sent, "" when all were.
func (d *Delivery) Problem() string {
	for _, p := range d.Parts {
		if p.Problem != "" {
			return p.Problem
		}
	}
	return ""
}

// stale reports whether the preview is to be removed once everything was sent.
func (d *Delivery) stale() bool {
	return d.Preview != "" && !(len(d.Parts) > 0 && d.Parts[0].MessageID == d.Preview)
}

// pins reports whether nothing but a preview is left beside pinning what arrived.
func (d *Delivery) pins() bool { return d.Pin && !d.Pinned && len(d.Parts) > 0 && d.next() < 0 }

// removes reports whether nothing is left to do but to remove the preview.
func (d *Delivery) removes() bool {
	return d.stale() && d.next() < 0 && (len(d.Parts) > 0 || d.Text == "" && len(d.Media) == 0)
}

// less reports whether it arrived otherwise than it was meant.
func (d *Delivery) less() bool { return d.State == Delivered && (d.Stale != "" || d.Problem() != "") }

// lane orders deliveries: one after the other in each conversation. What only tidies
// up is in none's way.
func (d *Delivery) lane() string {
	name := strings.Join([]string{d.Channel, d.To.Account, d.To.Conversation, d.To.Thread}, "\x00")
	switch {
	case d.pins():
		name += "\x00pin"
	case d.removes():
		name += "\x00removal"
	}
	return name
}

// clone copies what OnState hands out.
func (d *Delivery) clone() Delivery {
	out := *d
	out.Parts = append([]Part(nil), d.Parts...)
	return out
}

// albums are the files of each message.
func albums(media []channel.Media, how channel.Manner, c channel.Channel) (out [][]channel.Media) {
	if g, ok := c.(channel.Gatherer); ok {
		return g.Albums(media, how)
	}
	limits, size := c.Limits(), int64(0)
	for _, m := range media {
		if last := len(out) - 1; last >= 0 && len(out[last]) < limits.Together && size+m.Size <= limits.Files {
			out[last], size = append(out[last], m), size+m.Size
			continue
		}
		out, size = append(out, []channel.Media{m}), m.Size
	}
	return out
}

// apart makes a message of its own of each file of part i.
func (d *Delivery) apart(i int) {
	rest := make([]Part, 0, len(d.Parts[i].Media)-1)
	for _, m := range d.Parts[i].Media[1:] {
		rest = append(rest, Part{Media: []channel.Media{m}, State: Waiting, Reply: d.Parts[i].Reply && d.Reply == ReplyAll})
	}
	d.Parts[i].Media, d.Parts[i].State = d.Parts[i].Media[:1:1], Waiting
	d.Parts = slices.Insert(d.Parts, i+1, rest...)
}

// plan cuts a delivery into the messages of a channel. It happens once and is
// recorded, so that a delivery goes on after a restart where it stopped.
func plan(d *Delivery, l chunk.Limits, c channel.Channel) []Part {
	own := c.Limits()
	var parts []Part
	for _, c := range chunk.Split(d.Text, l) {
		if text := chunk.Trim(c.Text()); text != "" {
			parts = append(parts, Part{Text: text, State: Waiting})
		}
	}
	for i, m := range albums(d.Media, d.Manner, c) {
		if i == 0 && len(parts) == 1 && !d.EditPreview && own.Unit.Len(parts[0].Text) <= own.Caption {
			parts[0].Media = m
			continue
		}
		parts = append(parts, Part{Media: m, State: Waiting})
	}
	for i := range parts {
		parts[i].Reply = d.To.ReplyTo != "" && (d.Reply == ReplyAll || d.Reply != ReplyOff && i == 0)
	}
	return parts
}
