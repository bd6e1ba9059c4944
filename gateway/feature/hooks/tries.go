package hooks

import (
	"sync"
	"time"
)

const (
	maxTries  = 20
	tryWindow = time.Minute
	maxPeers  = 4096
)

// tries counts wrong tries of each peer. Who knows the token is let in whatever
// others tried from the same address.
type tries struct {
	mu    sync.Mutex
	peers map[string]window
}

type window struct {
	since time.Time
	n     int
}

func newTries() *tries { return &tries{peers: map[string]window{}} }

// bad notes a wrong try; ok is false when there were too many, for how long yet.
func (t *tries) bad(peer string, now time.Time) (wait time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.peers[peer]
	if now.Sub(w.since) >= tryWindow || now.Before(w.since) {
		w = window{since: now}
	}
	if w.n >= maxTries {
		return tryWindow - now.Sub(w.since), false
	}
	if len(t.peers) >= maxPeers {
		clear(t.peers)
	}
	w.n++
	t.peers[peer] = w
	return 0, true
}

func (t *tries) good(peer string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.peers, peer)
}
