package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/internal/sleep"
)

// kept is what the account keeps over restarts: how far each archive was read. The
// one of the account has no name.
type kept struct {
	Archives map[string]mark `json:"archives"`
}

// mark is a place in an archive. Without an id it is before all that come.
type mark struct {
	ID string    `json:"id,omitempty"`
	At time.Time `json:"at"`
}

const keptKey = "archives"

// remember reads what was kept.
func (c *Client) remember(ctx context.Context) error {
	k := kept{Archives: map[string]mark{}}
	if c.durable != nil {
		b, err := c.durable.Get(ctx, keptKey)
		if err != nil {
			return err
		}
		if len(b) > 0 {
			if err := json.Unmarshal(b, &k); err != nil {
				return fmt.Errorf("read how far the archives were read: %w", err)
			}
		}
	}
	if k.Archives == nil {
		k.Archives = map[string]mark{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = k
	return nil
}

// keep notes how far an archive was read.
func (c *Client) keep(ctx context.Context, archive string, at mark) error {
	c.mu.Lock()
	c.kept.Archives[archive] = at
	b, err := json.Marshal(c.kept)
	c.mu.Unlock()
	if err != nil || c.durable == nil {
		return err
	}
	return c.durable.Put(ctx, keptKey, b)
}

// pageSize is how many messages are asked for at a time.
const pageSize = 50

// catchUp reads what came to an archive since it was last read. For the first time
// it only notes where the archive ends: what was said before is not for us. A server
// without an archive is no error for our own.
func (c *Client) catchUp(ctx context.Context, l *link, archive string, last mark, known bool) error {
	if !known {
		return c.findEnd(ctx, l, archive)
	}
	for {
		f, err := c.page(ctx, l, archive, last, false)
		var said *saidError
		if errors.As(err, &said) && said.is("item-not-found") && last.ID != "" {
			last.ID = "" // it is no longer there: by its time then
			continue
		}
		if errors.As(err, &said) && archive == "" {
			c.log.Info("the server has no archive for us", "why", said.words())
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.drained(ctx); err != nil {
			return err
		}
		if f.Complete || f.Set.Last == "" || f.Set.Last == last.ID {
			return nil
		}
		last.ID = f.Set.Last
	}
}

// findEnd notes where an archive ends.
func (c *Client) findEnd(ctx context.Context, l *link, archive string) error {
	f, err := c.page(ctx, l, archive, mark{}, true)
	var said *saidError
	if errors.As(err, &said) && archive == "" {
		return nil
	}
	if err != nil {
		return err
	}
	return c.keep(ctx, archive, mark{ID: f.Set.Last, At: c.now()})
}

// page asks for one page of an archive; its messages come before the answer does.
// With end it is the last message alone, which is not handed over.
func (c *Client) page(ctx context.Context, l *link, archive string, last mark, end bool) (*fin, error) {
	q := &query{ID: newID(), Set: &page{Max: pageSize, After: last.ID}, Form: &form{Type: "submit", Fields: []field{
		{Var: "FORM_TYPE", Type: "hidden", Values: []string{nsMAM}},
	}}}
	switch {
	case end:
		q.Set.Max, q.Set.Before = 1, new(string)
	case last.ID == "":
		q.Form.Fields = append(q.Form.Fields, field{Var: "start", Values: []string{last.At.UTC().Format(time.RFC3339Nano)}})
	}
	if !end { // what a query brings that nobody asked is dropped
		l.mu.Lock()
		l.pages[q.ID] = archiveSign + archive
		l.mu.Unlock()
		defer func() {
			l.mu.Lock()
			delete(l.pages, q.ID)
			l.mu.Unlock()
		}()
	}
	got, err := l.ask(ctx, &iq{To: archive, Type: "set", Query: q})
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	if got.Fin == nil {
		return nil, errors.New("the archive's answer has no end")
	}
	return got.Fin, nil
}

// drained waits until what came was taken, so that ten thousand messages are not in
// memory at once.
func (c *Client) drained(ctx context.Context) error {
	for {
		c.mu.Lock()
		n, space := len(c.inbox), c.space
		c.mu.Unlock()
		if n < mostWaiting/2 {
			return sleep.For(ctx, 0)
		}
		select {
		case <-space:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// mark is how far an archive was read.
func (c *Client) mark(archive string) (mark, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, known := c.kept.Archives[archive]
	return m, known
}

// held is a message that came while its archive is read.
type held struct {
	m       *message
	counted uint32
}

// mostHeld is how many wait for their archive; what is more is read from there.
const mostHeld = 200

// waitingRoom is where they wait.
type waitingRoom struct {
	list []held
	full bool
}

// keepBack has what comes from an archive wait until release: what is older comes
// first, or else a crash between would lose it.
func (l *link) keepBack(archive string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[archive] = &waitingRoom{}
}

// hold reports whether a message waits.
func (l *link) hold(archive string, h held) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.held[archive]
	if w == nil {
		return false
	}
	if w.full = w.full || len(w.list) >= mostHeld; !w.full {
		w.list = append(w.list, h)
	}
	return true
}

// release hands over what has waited; full says that more came than could wait, so
// that the archive has to be read again.
func (c *Client) release(l *link, archive string) (full bool, err error) {
	for {
		l.mu.Lock()
		w := l.held[archive]
		list := w.list
		w.list = nil
		if full = full || w.full; len(list) == 0 {
			delete(l.held, archive)
			l.mu.Unlock()
			return full, nil
		}
		l.mu.Unlock()
		for _, h := range list {
			it := item{link: l, counted: h.counted}
			it.archive, it.id = c.archiveOf(h.m)
			if err := c.deliver(it, h.m); err != nil {
				return full, err
			}
		}
	}
}
