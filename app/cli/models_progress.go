package cli

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// pullProgress shows how far the download of a model is: a bar, or JSON lines with --json.
type pullProgress struct {
	model string

	mu    sync.Mutex // guards bar and ended: news are read on another goroutine
	bar   progress
	ended bool
	last  chan struct{} // closed with the last news
}

// lastNews is how long the end of the bar waits for news that were sent before
// the answer of the call, but are read on another goroutine.
const lastNews = time.Second

// event runs on the connection's goroutine.
func (b *pullProgress) event(e protocol.Event) {
	var p protocol.ModelsPullProgress
	if e.Event != protocol.EventModelsPull || json.Unmarshal(e.Payload, &p) != nil || p.Model != strings.TrimPrefix(b.model, "ollama/") {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	if p.State != "loading" {
		b.ended = true
		close(b.last)
		return
	}
	switch {
	case b.bar.a.asJSON:
		_ = b.bar.a.errs().jsonLine(p)
	case p.Total > 0:
		b.bar.show("", p.Completed, p.Total)
	default:
		b.bar.over(line(p.Status))
	}
}

// end leaves the line of the bar.
func (b *pullProgress) end() {
	patience := time.NewTimer(lastNews)
	defer patience.Stop()
	select {
	case <-b.last:
	case <-patience.C:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.bar.end()
}
