package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// room is one session as this program knows it.
type room struct {
	key       string
	sessionID string
	msgs      []protocol.Message // in order, each with Meta
	more      bool               // older ones are on the gateway
	oldest    string             // the transcript that the first message stands in, "" for sessionID
	earlier   *protocol.Earlier  // what stood in the session before that transcript
	ends      []int64            // where earlier conversations end, by seq
	loaded    bool
	loading   bool
	dirty     bool // what the gateway has is newer
	live      *live
	ended     map[string]bool          // runs whose end was told
	took      map[string]time.Duration // of tool calls, by call id
	started   map[string]time.Time

	out     []*outgoing
	draft   composer
	redo    string // the entry of the sent message that is in the composer, to be answered again
	files   []*attached
	editing string // the run whose waiting message is in the composer
	sentBox []string
	recall  int // how far back ↑ went

	scroll   int  // rows between the screen and the latest
	expanded bool // tool cards show what went in and out
	total    int  // rows of the last drawing
	cache    map[string]drawn
	stream   stream
}

// outgoing is a message from the composer until the history has it.
type outgoing struct {
	run, text string
	mode      string
	files     []*attached
	sending   bool
	acked     bool   // the gateway has it on disk
	looked    int    // how often the history was read since, without it
	err       string // why it was refused
}

// live is the answer that is being given.
type live struct {
	run   string
	text  []byte // since the last tool call
	end   int64  // of all text of the run, in bytes
	phase string
	since time.Time
	stale bool // the connection was lost since
}

// delta adds words; gap means that some are missing.
func (l *live) delta(e *protocol.ChatEvent) (gap bool) {
	switch {
	case e.End <= l.end:
		return false
	case e.Offset > l.end, e.End-e.Offset != int64(len(e.DeltaText)):
		return true
	}
	l.text = append(l.text, e.DeltaText[l.end-e.Offset:]...)
	l.end = e.End
	return false
}

// merge takes the newest page of the history.
func (r *room) merge(h *protocol.ChatHistory, now time.Time) {
	if h.SessionID != r.sessionID {
		r.msgs, r.sessionID, r.oldest, r.ends = nil, h.SessionID, "", nil
	}
	page := placed(h.Messages)
	first, last := int64(1<<62), int64(-1)
	if len(page) > 0 {
		first, last = page[0].Meta.Seq, page[len(page)-1].Meta.Seq
	}
	if len(r.msgs) == 0 || first <= r.msgs[0].Meta.Seq {
		r.more, r.earlier = h.HasMore, h.Earlier
	}
	old := r.msgs
	r.msgs = nil
	for _, m := range old {
		if m.Meta.Seq < first {
			r.msgs = append(r.msgs, m)
		}
	}
	r.msgs = append(r.msgs, page...)
	for _, m := range old {
		if m.Meta.Seq > last && m.Meta.Seq >= first {
			r.msgs = append(r.msgs, m)
		}
	}
	if r.live != nil && len(page) > 0 && r.asked(r.live.run) == nil && h.InFlightRun == nil {
		r.live = nil // of the session before a reset
	}
	r.loaded = true
	r.inFlight(h.InFlightRun, now)
	r.settleOut()
	r.giveUp()
}

// inFlight takes what the gateway says of the running answer.
func (r *room) inFlight(f *protocol.InFlightRun, now time.Time) {
	if f == nil {
		if r.live != nil && (r.live.stale || ended(r.asked(r.live.run))) {
			r.live = nil
		}
		return
	}
	if r.ended[f.RunID] {
		return
	}
	l := r.live
	if l == nil || l.run != f.RunID {
		l = &live{run: f.RunID, since: now}
		r.live = l
	} else if !l.stale && f.End < l.end {
		return // events have told more meanwhile
	}
	l.text, l.end, l.stale = []byte(f.Text), f.End, false
}

// older takes a page from before the first message.
func (r *room) older(h *protocol.ChatHistory) {
	page := placed(h.Messages)
	switch h.SessionID {
	case cmp.Or(r.oldest, r.sessionID):
	case r.past():
		if r.oldest = h.SessionID; len(page) > 0 {
			r.ends = append(r.ends, page[len(page)-1].Meta.Seq)
		}
	default:
		return
	}
	if len(r.msgs) > 0 {
		page = slices.DeleteFunc(page, func(m protocol.Message) bool { return m.Meta.Seq >= r.msgs[0].Meta.Seq })
	}
	r.msgs = append(page, r.msgs...)
	r.more, r.earlier = h.HasMore, h.Earlier
}

// past is the id of the conversation that is read next when somebody scrolls
// up, "" while there is more of the one at hand.
func (r *room) past() string {
	if r.more || r.earlier == nil {
		return ""
	}
	return r.earlier.SessionID
}

func placed(msgs []protocol.Message) []protocol.Message {
	return slices.DeleteFunc(slices.Clone(msgs), func(m protocol.Message) bool { return m.Meta == nil })
}

// put takes one message that an event brought.
func (r *room) put(m protocol.Message) {
	if m.Meta == nil || !r.loaded {
		return
	}
	i, found := slices.BinarySearchFunc(r.msgs, m.Meta.Seq, func(x protocol.Message, seq int64) int {
		switch {
		case x.Meta.Seq < seq:
			return -1
		case x.Meta.Seq > seq:
			return 1
		}
		return 0
	})
	if found {
		r.msgs[i] = m
	} else {
		r.msgs = slices.Insert(r.msgs, i, m)
	}
}

// settleOut drops what the history has now.
func (r *room) settleOut() {
	r.out = slices.DeleteFunc(r.out, func(o *outgoing) bool { return r.asked(o.run) != nil })
}

// giveUp drops messages that the gateway took and that are not in its history:
// the session was cleared meanwhile. The first reading may be older than that.
func (r *room) giveUp() {
	r.out = slices.DeleteFunc(r.out, func(o *outgoing) bool {
		if o.acked {
			o.looked++
		}
		return o.looked > 2
	})
}

// asked is the person's message of a run.
func (r *room) asked(run string) *protocol.Message {
	for i := len(r.msgs) - 1; i >= 0; i-- {
		if m := &r.msgs[i]; m.Role == protocol.MessageUser && m.Meta.RunID == run {
			return m
		}
	}
	return nil
}

// ended reports whether nothing more happens to a message.
func ended(m *protocol.Message) bool {
	if m == nil || m.Hearth == nil {
		return false
	}
	switch m.Hearth.State {
	case protocol.ReceiptAccepted, protocol.ReceiptAnswering, "":
		return false
	}
	return true
}

// waits reports whether a message of the history is in the queue.
func (r *room) waits(m *protocol.Message) bool {
	return m.Role == protocol.MessageUser && m.Hearth != nil && m.Hearth.State == protocol.ReceiptAccepted &&
		(r.live == nil || r.live.run != m.Meta.RunID)
}

// waiting is one line of the queue strip.
type waiting struct {
	run, text string
	out       *outgoing // nil when the gateway has it
}

// queue lists what waits, the oldest first.
func (r *room) queue() (q []waiting) {
	for i := range r.msgs {
		if m := &r.msgs[i]; r.waits(m) {
			q = append(q, waiting{run: m.Meta.RunID, text: m.Text()})
		}
	}
	if len(q) == 0 && r.live == nil {
		return nil // what is being sent shows in the transcript
	}
	for _, o := range r.out {
		if o.err == "" {
			q = append(q, waiting{o.run, o.text, o})
		}
	}
	return q
}

// failed is the last message that can be sent again.
func (r *room) failed() (text string, out *outgoing) {
	for i := len(r.out) - 1; i >= 0; i-- {
		if r.out[i].err != "" {
			return r.out[i].text, r.out[i]
		}
	}
	if m := r.last(); m != nil && m.Hearth != nil && ended(m) && m.Hearth.State != protocol.ReceiptAnswered {
		return m.Text(), nil
	}
	return "", nil
}

// last is the person's last message that the gateway has.
func (r *room) last() *protocol.Message {
	for i := len(r.msgs) - 1; i >= 0; i-- {
		if m := &r.msgs[i]; m.Role == protocol.MessageUser {
			return m
		}
	}
	return nil
}

// remember keeps what was sent for ↑.
func (r *room) remember(text string) {
	r.sentBox = append(slices.DeleteFunc(r.sentBox, func(s string) bool { return s == text }), text)
	r.recall = 0
}

// recallable is what ↑ steps through, the latest last.
func (r *room) recallable() (texts []string) {
	for i := range r.msgs {
		if m := &r.msgs[i]; m.Role == protocol.MessageUser {
			texts = append(texts, m.Text())
		}
	}
	for _, s := range r.sentBox {
		texts = append(slices.DeleteFunc(texts, func(x string) bool { return x == s }), s)
	}
	return slices.DeleteFunc(texts, func(s string) bool { return strings.TrimSpace(s) == "" })
}
