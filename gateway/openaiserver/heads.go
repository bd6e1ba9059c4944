package openaiserver

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"strings"
	"sync"
)

// maxHeads is how many conversations are recognized by what was said in them.
const maxHeads = 2000

// heads recognize conversations of programs that name none: such a program
// sends everything that was said with every request, so what was said so far
// tells which conversation goes on. Another ending is another conversation.
type heads struct {
	mu    sync.Mutex // guards all below
	by    map[head]*list.Element
	keyed map[string]*list.Element
	order *list.List // of headRow, the longest unused first
}

type head [sha256.Size]byte

type headRow struct {
	head head
	key  string
}

func newHeads() *heads {
	return &heads{by: make(map[head]*list.Element), keyed: make(map[string]*list.Element), order: list.New()}
}

// headOf is what was said, as one client's with one agent.
func headOf(client, agent string, said []Message) head {
	sum := sha256.New()
	put(sum, client, agent)
	for _, m := range said {
		put(sum, string(m.Role), strings.TrimSpace(m.Text), m.CallID)
		for _, p := range m.Pictures {
			put(sum, "picture", p)
		}
		for _, c := range m.Calls {
			put(sum, "call", c.ID, c.Name)
		}
	}
	return head(sum.Sum(nil))
}

// put writes texts so that no two lists of them look the same.
func put(sum hash.Hash, texts ...string) {
	for _, t := range texts {
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(t))))
		sum.Write([]byte(t))
	}
}

// take tells which conversation has come exactly so far. It goes on now: until
// it is set again, nothing else goes on with it.
func (s *heads) take(h head) (key string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.by[h]
	if e == nil {
		return "", false
	}
	s.drop(e)
	return e.Value.(headRow).key, true
}

// forget says that a conversation goes on by another way.
func (s *heads) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(s.keyed[key])
}

// set says how far a conversation has come.
func (s *heads) set(h head, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(s.keyed[key])
	s.drop(s.by[h])
	for s.order.Len() >= maxHeads {
		s.drop(s.order.Front())
	}
	e := s.order.PushBack(headRow{h, key})
	s.by[h], s.keyed[key] = e, e
}

// drop removes a row; mu is held.
func (s *heads) drop(e *list.Element) {
	if e == nil {
		return
	}
	row := s.order.Remove(e).(headRow)
	delete(s.by, row.head)
	delete(s.keyed, row.key)
}
