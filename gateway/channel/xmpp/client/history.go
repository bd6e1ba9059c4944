package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/xmpp"
)

// mostReadPages is how many pages of an archive are looked through for one answer.
const mostReadPages = 20

// lookup gathers what an archive gives back to read, beside what is handed over.
type lookup struct {
	archive string
	list    []old
}

// old is a message of an archive.
type old struct {
	id string // in the archive
	m  *message
}

// gathered takes a message that somebody wanted to read; false: nobody did. The archive
// that was asked has to give it.
func (l *link) gathered(m *message, archive string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.lookups[m.Result.Query]
	if q == nil || q.archive != archive {
		return false
	}
	if inner := m.Result.Forwarded.Message; inner != nil && len(q.list) < pageSize {
		if inner.Delay == nil {
			inner.Delay = m.Result.Forwarded.Delay
		}
		inner.Result = nil
		q.list = append(q.list, old{m.Result.ID, inner})
	}
	return true
}

// Read implements channel.Reader: it reads the archive of the account, or of a room, back
// (XEP-0313).
func (c *Client) Read(ctx context.Context, to channel.Target, before string, limit int) ([]channel.Past, error) {
	address, kind, err := c.recipient(to)
	if err != nil {
		return nil, err
	}
	l, err := c.current()
	if err != nil {
		return nil, err
	}
	r := &reading{
		c: c, address: address, own: c.nickIn(l, address), limit: max(limit, 1), edits: map[[2]string]string{}, gone: map[[2]string]bool{},
	}
	archive := ""
	if r.room = kind == "groupchat"; r.room {
		archive = address
	}
	c.mu.Lock()
	at, known := c.stored.get(address + " " + before)
	c.mu.Unlock()
	if before != "" && !known { // it is looked for from the newest on
		r.until = before
	}
	for range mostReadPages {
		list, complete, err := c.pageBack(ctx, l, archive, address, at)
		var said *saidError
		if errors.As(err, &said) {
			return nil, fmt.Errorf("%w: the server gives nothing of its archive: %s", channel.ErrRefused, said.words())
		}
		if err != nil {
			return nil, err
		}
		for _, o := range slices.Backward(list) {
			r.take(o)
		}
		if len(list) == 0 || complete || len(r.out) >= r.limit {
			break
		}
		at = list[0].id
	}
	if r.until != "" {
		return nil, fmt.Errorf("%w: the message %q is not in what the server's archive gives back", channel.ErrRefused, line(before, 60))
	}
	slices.Reverse(r.out)
	return r.out, nil
}

// nickIn is what we are called in a room.
func (c *Client) nickIn(l *link, room string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.seats[room]; s != nil && s.nick != "" {
		return s.nick
	}
	return c.nick
}

// pageBack asks for what stands before a place in an archive, "" for its end.
func (c *Client) pageBack(ctx context.Context, l *link, archive, with, at string) (list []old, complete bool, err error) {
	fields := []field{{Var: "FORM_TYPE", Type: "hidden", Values: []string{nsMAM}}}
	if archive == "" {
		fields = append(fields, field{Var: "with", Values: []string{with}})
	}
	q := &query{ID: newID(), Set: &page{Max: pageSize, Before: &at}, Form: &form{Type: "submit", Fields: fields}}
	found := &lookup{archive: archive}
	l.mu.Lock()
	l.lookups[q.ID] = found
	l.mu.Unlock()
	got, err := l.ask(ctx, &iq{To: archive, Type: "set", Query: q})
	l.mu.Lock()
	delete(l.lookups, q.ID)
	list = found.list
	l.mu.Unlock()
	if err != nil {
		return nil, false, err
	}
	return list, got.Fin != nil && got.Fin.Complete, nil
}

// reading is what was read back so far, the newest first.
type reading struct {
	c       *Client
	address string
	room    bool
	own     string // our name in the room
	until   string // a message that has to come first; "": it came, or none has to
	limit   int
	out     []channel.Past
	edits   map[[2]string]string // what became of older messages, by who wrote them and their id
	gone    map[[2]string]bool
}

// take takes a message; they come the newest first.
func (r *reading) take(o old) {
	m, from := o.m, bare(o.m.From)
	if r.room { // the room's archive says who; nobody else may
		from = r.address + "/" + resource(m.From)
	}
	key := [2]string{from, m.ID}
	switch {
	case m.Retract != nil:
		r.gone[[2]string{from, m.Retract.ID}] = true
		return
	case m.Replace != nil:
		if at := [2]string{from, m.Replace.ID}; len(m.Bodies) > 0 {
			if _, newer := r.edits[at]; !newer {
				r.edits[at] = m.Bodies[0].Text
			}
		}
		return
	case r.gone[key], r.gone[[2]string{from, o.id}], m.Type == "error": // in rooms it is the archive's id that is taken back
		return
	}
	past, ok := r.past(o, from)
	if !ok {
		return
	}
	if now, edited := r.edits[key]; edited && m.ID != "" {
		past.Text = now
	}
	r.c.mu.Lock()
	r.c.stored.put(r.address+" "+past.MessageID, o.id)
	r.c.mu.Unlock()
	switch {
	case r.until == past.MessageID:
		r.until = ""
	case r.until == "" && len(r.out) < r.limit:
		r.out = append(r.out, past)
	}
}

// past is a message as it is read back; false for what says nothing.
func (r *reading) past(o old, from string) (past channel.Past, ok bool) {
	m := o.m
	in := channel.Inbound{}
	if !r.c.words(&in, m) {
		return past, false
	}
	for _, f := range in.Media {
		in.Text = strings.TrimSpace(in.Text + "\n[file: " + f.Name + "]")
	}
	past = channel.Past{MessageID: m.ID, SenderID: from, SenderName: localpart(from), Text: in.Text}
	if m.Delay != nil {
		past.At = m.Delay.Stamp
	} else {
		past.At = time.Unix(0, 0)
	}
	ours := from == r.c.address
	if r.room {
		past.SenderName = resource(m.From)
		ours = past.SenderName == r.own
	}
	if past.MessageID == "" || r.room && !ours { // as it is called when it comes in
		past.MessageID = o.id
	}
	return past, r.room || from == r.c.address || xmpp.IsAddress(from)
}
