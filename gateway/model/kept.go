package model

import "sync"

// Kept is what is remembered of a message that is sent again with every request of
// its conversation, so that it is found out once: how a dialect writes it, and that
// no secret is in it. It belongs to the blocks that it was made for, which must not
// be changed any more. A message with other blocks has none of it.
//
// Its methods may be called at the same time.
type Kept struct {
	first *Block
	n     int

	mu      sync.Mutex
	form    string
	written []byte
	clear   uint64
}

// Keep is the message with room to remember what is found out about it.
func (m Message) Keep() Message {
	if m.Kept = nil; len(m.Blocks) > 0 {
		m.Kept = &Kept{first: &m.Blocks[0], n: len(m.Blocks)}
	}
	return m
}

// kept is nil when nothing may be remembered.
func (m Message) kept() *Kept {
	if k := m.Kept; k != nil && len(m.Blocks) == k.n && &m.Blocks[0] == k.first {
		return k
	}
	return nil
}

// Written is the message as write writes it, which is asked once. form names the
// dialect and all that the result depends on beside the message.
func (m Message) Written(form string, write func() ([]byte, error)) ([]byte, error) {
	k := m.kept()
	if k == nil {
		return write()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.written != nil && k.form == form {
		return k.written, nil
	}
	raw, err := write()
	if err == nil {
		k.form, k.written = form, raw
	}
	return raw, err
}

// Clear reports whether nothing was found in the message when it was searched for
// what the generation stands for; search is asked once for each. 0 is never
// remembered.
func (m Message) Clear(generation uint64, search func(Message) bool) bool {
	k := m.kept()
	if k == nil || generation == 0 {
		return search(m)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.clear != generation && search(m) {
		k.clear = generation
	}
	return k.clear == generation
}

// Equal is always true: what is remembered says nothing of its own.
func (*Kept) Equal(*Kept) bool { return true }
