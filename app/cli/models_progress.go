package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

// progressBar shows how far a download is: one line that is written over on a
// terminal, a line every tenth of the way elsewhere, JSON lines with --json.
type progressBar struct {
	a     *app
	model string

	mu    sync.Mutex
	shown int // tenths that were printed, or the width of the line on a terminal
	ended bool
	last  chan struct{} // closed with the last news
}

// lastNews is how long the end of the bar waits for news that were sent before
// the answer of the call, but are read on another goroutine.
const lastNews = time.Second

const barWidth = 24

// event runs on the connection's goroutine.
func (b *progressBar) event(e protocol.Event) {
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
	case b.a.asJSON:
		_ = b.a.errs().jsonLine(p)
	case b.a.ErrTerminal:
		text := barText(&p)
		_ = b.a.errs().raw("\r" + text + strings.Repeat(" ", max(0, b.shown-len([]rune(text)))))
		b.shown = len([]rune(text))
	case p.Total > 0:
		if tenth := int(p.Completed * 10 / p.Total); tenth > b.shown {
			b.shown = tenth
			_ = b.a.errs().print(fmt.Sprintf("%d %% of %s\n", tenth*10, size(p.Total)))
		}
	}
}

// end leaves the line of the bar.
func (b *progressBar) end() {
	patience := time.NewTimer(lastNews)
	defer patience.Stop()
	select {
	case <-b.last:
	case <-patience.C:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended = true; b.a.ErrTerminal && !b.a.asJSON && b.shown > 0 {
		_ = b.a.errs().raw("\n")
	}
}

// barText fits into 60 columns.
func barText(p *protocol.ModelsPullProgress) string {
	if p.Total <= 0 {
		return text.Ellipsis(line(p.Status), 60)
	}
	full := int(p.Completed * barWidth / p.Total)
	return fmt.Sprintf("%s%s %3d %%  %s of %s", strings.Repeat("█", full), strings.Repeat("░", barWidth-full), p.Completed*100/p.Total,
		size(p.Completed), size(p.Total))
}
