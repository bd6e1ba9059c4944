package web

import (
	"sync"
	"time"
)

const (
	cacheEntries = 64
	cacheBytes   = 8 << 20
)

// cache keeps pages for a while. The zero value is ready.
type cache struct {
	mu    sync.Mutex
	pages map[string]cached
	bytes int
}

type cached struct {
	page fetched
	at   time.Time
}

func (c *cache) get(key string, now time.Time) (fetched, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.pages[key]
	if !ok || now.Sub(e.at) >= cacheTime {
		return fetched{}, false
	}
	return e.page, true
}

func (c *cache) put(key string, p fetched, now time.Time) {
	if len(p.text) > cacheBytes/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pages == nil {
		c.pages = map[string]cached{}
	}
	c.remove(key)
	for k, e := range c.pages {
		if now.Sub(e.at) >= cacheTime {
			c.remove(k)
		}
	}
	for len(c.pages) >= cacheEntries || c.bytes+len(p.text) > cacheBytes && len(c.pages) > 0 {
		oldest := ""
		for k, e := range c.pages {
			if oldest == "" || e.at.Before(c.pages[oldest].at) {
				oldest = k
			}
		}
		c.remove(oldest)
	}
	c.pages[key] = cached{p, now}
	c.bytes += len(p.text)
}

func (c *cache) remove(key string) {
	c.bytes -= len(c.pages[key].page.text)
	delete(c.pages, key)
}
