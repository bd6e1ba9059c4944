package answers

import (
	"sync"
	"time"
)

// dropNotices say in a chat that messages were dropped because too many waited:
// once in a while, or a flood of messages would be answered by a flood of notices.
type dropNotices struct {
	mu   sync.Mutex
	last map[string]time.Time // by chat
}

const (
	dropNoticeEvery = time.Minute
	dropNotice      = "Too many messages were waiting here, so this one was dropped, and others may be. Send again what still matters."
)

// due reports whether a chat is to be told, and notes that it is.
func (d *dropNotices) due(chat string, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for k, at := range d.last {
		if now.Sub(at) >= dropNoticeEvery {
			delete(d.last, k)
		}
	}
	if _, told := d.last[chat]; told {
		return false
	}
	if d.last == nil {
		d.last = map[string]time.Time{}
	}
	d.last[chat] = now
	return true
}
