package pairing

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

// Throttling of failed credentials.
const (
	maxFailures    = 10 // per credential class, source and origin
	maxFailuresAll = 40 // per credential class, from everywhere
	failureWindow  = time.Minute
	lockFor        = time.Minute
	maxBuckets     = 4096
)

// class is the kind of a presented credential; each is charged for itself.
type class string

const (
	classToken     class = "token"
	classDevice    class = "device-token"
	classBootstrap class = "bootstrap-token"
	classClient    class = "client-token"
	classCompare   class = "compare"
)

// everybody is the source of the bucket that all who are no known device share:
// one for this machine, and one for the others.
const everybody = "*"

// bucketKey names who is charged. A known device that proved its key has its
// own bucket, so that strangers cannot lock it out.
type bucketKey struct {
	class  class
	source string
	origin string
	device string
	local  bool // on this machine: what others do does not fill its buckets
}

// throttle counts failures. A slot is taken before a credential is looked at
// and given back only when it was right: attempts that run at the same time
// cannot all slip through.
type throttle struct {
	now func() time.Time

	mu      sync.Mutex // guards all below
	buckets map[bucketKey]*list.Element
	order   *list.List // of *bucket, least recently used first
}

type bucket struct {
	key      bucketKey
	failures []time.Time // within the window, oldest first
	pending  int
	lockedTo time.Time
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{now: now, buckets: make(map[bucketKey]*list.Element), order: list.New()}
}

// attempt is a taken slot; exactly one of its methods ends it.
type attempt struct {
	t    *throttle
	keys []bucketKey
}

// take reserves a slot in the key's bucket and in the one that everybody
// on its side of the wire shares. When either is full it takes none and says how long to wait.
func (t *throttle) take(key bucketKey) (*attempt, time.Duration) {
	limits := map[bucketKey]int{key: maxFailures}
	keys := []bucketKey{key}
	if key.device == "" {
		all := bucketKey{class: key.class, source: everybody, local: key.local}
		keys = append(keys, all)
		limits[all] = maxFailuresAll
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for _, k := range keys {
		b := t.bucket(k)
		b.expire(now)
		if wait := b.lockedTo.Sub(now); wait > 0 {
			return nil, wait
		}
		if len(b.failures)+b.pending >= limits[k] {
			return nil, time.Second // all slots are being looked at right now
		}
	}
	for _, k := range keys {
		t.bucket(k).pending++
	}
	return &attempt{t: t, keys: keys}, 0
}

// bucket finds or makes a bucket and marks it as used; mu is held.
func (t *throttle) bucket(k bucketKey) *bucket {
	if e := t.buckets[k]; e != nil {
		t.order.MoveToBack(e)
		return e.Value.(*bucket)
	}
	for e := t.order.Front(); e != nil && t.order.Len() >= maxBuckets; {
		next := e.Next()
		if b := e.Value.(*bucket); b.key.source != everybody { // the shared ones are few and stay
			t.order.Remove(e)
			delete(t.buckets, b.key)
		}
		e = next
	}
	b := &bucket{key: k}
	t.buckets[k] = t.order.PushBack(b)
	return b
}

func (b *bucket) expire(now time.Time) {
	n := 0
	for n < len(b.failures) && now.Sub(b.failures[n]) >= failureWindow {
		n++
	}
	b.failures = b.failures[n:]
}

// right gives the slots back.
func (a *attempt) right() { a.end(false) }

// wrong turns the slots into failures and locks what is full.
func (a *attempt) wrong() { a.end(true) }

func (a *attempt) end(failed bool) {
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	now := a.t.now()
	for _, k := range a.keys {
		b := a.t.bucket(k)
		b.pending = max(0, b.pending-1)
		if !failed {
			continue
		}
		b.failures = append(b.failures, now)
		limit := maxFailures
		if k.source == everybody {
			limit = maxFailuresAll
		}
		if len(b.failures) >= limit {
			b.lockedTo = now.Add(lockFor)
			b.failures = nil
		}
	}
}

// SourceKey is one name for all addresses that one party can pick from: IPv4
// in its own form, IPv6 by /64, and this machine as a whole.
func SourceKey(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	switch {
	case !a.IsValid():
		return "?"
	case a.IsLoopback():
		return "loopback"
	case a.Is6():
		return netip.PrefixFrom(a, 64).Masked().String()
	}
	return a.String()
}
