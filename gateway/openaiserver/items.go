package openaiserver

import (
	"container/list"
	"fmt"
	"strings"
	"sync"
)

// Bounds of what is remembered for references.
const (
	maxItems     = 4000
	maxItemBytes = 16 << 20
)

// items remember what was given out under an id: programs that believe that the
// service keeps its answers (the default of OpenAI's API) send only the id back.
type items struct {
	mu    sync.Mutex // guards all below
	by    map[string]*list.Element
	order *list.List // of itemRow, the oldest first
	bytes int
}

type itemRow struct {
	id   string // with the client before it
	msg  Message
	size int
}

func newItems() *items { return &items{by: make(map[string]*list.Element), order: list.New()} }

func itemID(client, id string) string { return client + "\x00" + id }

func (s *items) put(client, id string, m Message) {
	row := itemRow{id: itemID(client, id), msg: m, size: len(m.Text) + 200}
	for _, c := range m.Calls {
		row.size += len(c.Arguments)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.by[row.id]; e != nil {
		s.drop(e)
	}
	s.by[row.id] = s.order.PushBack(row)
	s.bytes += row.size
	for s.order.Len() > maxItems || s.bytes > maxItemBytes {
		s.drop(s.order.Front())
	}
}

// drop forgets a row; mu is held.
func (s *items) drop(e *list.Element) {
	row := s.order.Remove(e).(itemRow)
	s.bytes -= row.size
	delete(s.by, row.id)
}

func (s *items) get(client, id string) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.by[itemID(client, id)]
	if e == nil {
		return Message{}, false
	}
	return e.Value.(itemRow).msg, true
}

// keep remembers what an answer was made of.
func (p *responseReply) keep(res result) {
	h, client := p.ask.h, p.ask.v.client.ID
	if text := p.said.String(); text != "" {
		h.items.put(client, p.messageID(), Message{Role: Assistant, Text: text})
	}
	for i, c := range res.calls {
		h.items.put(client, p.callItem(i), Message{Role: Assistant, Calls: []Call{c}})
	}
}

func (p *responseReply) callItem(i int) string { return fmt.Sprintf("fc_%s_%d", p.ask.id, i) }

// refer puts what a reference stands for in its place. One that nobody knows any
// more (after a restart, or long ago) is left out, as other services of this kind
// leave out all of them: the conversation itself is kept here.
func (r *Request) refer(id string, find func(id string) (Message, bool)) {
	m, ok := find(id)
	if !ok {
		return
	}
	if n := len(r.Messages); strings.HasPrefix(id, "fc_") && n > 0 && r.Messages[n-1].Role == Assistant {
		last := &r.Messages[n-1]
		last.Calls = append(last.Calls, m.Calls...)
		return
	}
	r.Messages = append(r.Messages, m)
}
