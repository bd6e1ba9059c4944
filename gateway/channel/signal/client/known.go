package client

import "sync"

// mostKnown is how many messages are remembered.
const mostKnown = 2000

// memory is what is known of the latest messages: what is quoted, edited and taken
// back needs more than its name. It does not stay over restarts: then an answer quotes
// nothing, and an edit begins from the message itself.
type memory struct {
	mu    sync.Mutex
	all   map[string]*message
	order []string
	first map[string]string // what an edited message was called at first, by the name of its newest edit
}

// message is one by its name.
type message struct {
	text    string
	newest  int64 // the time of its newest edit, 0: it has none
	edits   int
	emoji   string // ours on it
	removed bool
}

func newMemory() *memory { return &memory{all: map[string]*message{}, first: map[string]string{}} }

// with does something with what is known of a message.
func (m *memory) with(id string, do func(*message)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one := m.all[id]
	if one == nil {
		one = &message{}
		m.all[id] = one
		m.order = append(m.order, id)
		if len(m.order) > mostKnown {
			delete(m.all, m.order[0])
			m.order = append([]string(nil), m.order[1:]...)
		}
	}
	do(one)
}

// get is what is known of a message.
func (m *memory) get(id string) (message, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one := m.all[id]
	if one == nil {
		return message{}, false
	}
	return *one, true
}

// original is what the message that was edited was called at first; newer is what its
// edit is called, which the next edit names.
func (m *memory) original(edited, newer string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := edited
	if was, ok := m.first[edited]; ok {
		id = was
		delete(m.first, edited)
	}
	if len(m.first) >= mostKnown {
		clear(m.first)
	}
	m.first[newer] = id
	return id
}
