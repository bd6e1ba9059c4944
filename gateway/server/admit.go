package server

import (
	"container/list"
	"net"
	"net/http"
	"sync"

	"github.com/coder/websocket"

	"github.com/hearth-assistant/hearth/gateway/pairing"
)

// pendingSet are the sockets between upgrade and hello. When there are too
// many the oldest goes: an honest client is through in milliseconds, a hoarder
// holds its place for seconds.
type pendingSet struct {
	order list.List // of *conn, oldest first
	at    map[*conn]*list.Element
	peers map[string]int
}

func (p *pendingSet) add(c *conn) {
	if p.at == nil {
		p.at, p.peers = make(map[*conn]*list.Element), make(map[string]int)
	}
	p.at[c] = p.order.PushBack(c)
	p.peers[pairing.SourceKey(c.peer)]++
}

func (p *pendingSet) remove(c *conn) {
	e := p.at[c]
	if e == nil {
		return
	}
	p.order.Remove(e)
	delete(p.at, c)
	key := pairing.SourceKey(c.peer)
	if p.peers[key]--; p.peers[key] <= 0 {
		delete(p.peers, key)
	}
}

// excess is the socket to give up, nil when all are welcome. c came last.
func (p *pendingSet) excess(c *conn, most, mostPerPeer int) *conn {
	key := pairing.SourceKey(c.peer)
	crowded := p.peers[key] > mostPerPeer
	if !crowded && p.order.Len() <= most {
		return nil
	}
	for e := p.order.Front(); e != nil; e = e.Next() {
		if old := e.Value.(*conn); !crowded || pairing.SourceKey(old.peer) == key {
			return old
		}
	}
	return nil
}

func (p *pendingSet) all() []*conn {
	out := make([]*conn, 0, p.order.Len())
	for e := p.order.Front(); e != nil; e = e.Next() {
		out = append(out, e.Value.(*conn))
	}
	return out
}

// admit makes room for a new socket; false means that the gateway is stopping.
func (s *Server) admit(c *conn) bool {
	s.mu.Lock()
	if s.stopping {
		s.mu.Unlock()
		return false
	}
	s.sockets.Add(1)
	s.pending.add(c)
	old := s.pending.excess(c, s.limits.Pending, s.limits.PendingPerPeer)
	if old != nil {
		s.pending.remove(old)
	}
	s.mu.Unlock()
	if old != nil {
		old.end(websocket.StatusTryAgainLater, "too many connections without hello", true)
	}
	return true
}

func (s *Server) handshakeOver(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending.remove(c)
}

// rawConns are the TCP connections that are not sockets. Above the limit the
// oldest is closed; slow ones are ended by the HTTP time-outs.
type rawConns struct {
	limit int

	mu    sync.Mutex // guards all below
	order list.List  // of net.Conn, oldest first
	at    map[net.Conn]*list.Element
}

func newRawConns(limit int) *rawConns {
	return &rawConns{limit: limit, at: make(map[net.Conn]*list.Element)}
}

// track is an http.Server.ConnState.
func (r *rawConns) track(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if old := r.add(c); old != nil {
			_ = old.Close()
		}
	case http.StateHijacked, http.StateClosed:
		r.mu.Lock()
		defer r.mu.Unlock()
		if e := r.at[c]; e != nil {
			r.order.Remove(e)
			delete(r.at, c)
		}
	}
}

func (r *rawConns) add(c net.Conn) (old net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.order.Len() >= r.limit {
		e := r.order.Front()
		old = e.Value.(net.Conn)
		r.order.Remove(e)
		delete(r.at, old)
	}
	r.at[c] = r.order.PushBack(c)
	return old
}
