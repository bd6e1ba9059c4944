package client

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint"
)

// presses are those whose Teams still waits for an answer, which only who pressed sees.
type presses struct {
	mu sync.Mutex
	m  map[string]chan string // by the id of the press
}

// expect waits for the words to a press; end forgets it.
func (p *presses) expect(id string) (words <-chan string, end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.m == nil {
		p.m = map[string]chan string{}
	}
	mine := make(chan string, 1)
	p.m[id] = mine
	return mine, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.m[id] == mine {
			delete(p.m, id)
		}
	}
}

// tell hands words to who waits for them; false: nobody does any more.
func (p *presses) tell(id, words string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	waits := p.m[id]
	delete(p.m, id)
	if waits == nil {
		return false
	}
	waits <- words
	return true
}

// answerTime is how long Teams waits for the words after a press was taken: it shows an
// error to who pressed when an answer takes longer than some seconds.
const answerTime = 2500 * time.Millisecond

// invoked takes a press of a button, and answers it with what only who pressed sees.
func (c *Client) invoked(ctx context.Context, ev event) channel.CallAnswer {
	if ev.Name == consentInvoke {
		return c.consented(ctx, ev)
	}
	all := c.read(ev)
	if len(all) != 1 || !all[0].in.Press.Pressed() { // a part of Teams that the bot has none of
		return endpoint.Say(http.StatusNotImplemented)
	}
	c.noted(ctx, ev, all[0].in)
	words, end := c.presses.expect(all[0].in.Press.ID)
	defer end()
	if err := c.Take(ctx, all[0].id, all[0].in); err != nil {
		c.Logger.Warn("a press was not taken", "err", err)
		return endpoint.JSON(http.StatusOK, map[string]any{
			"statusCode": http.StatusInternalServerError, "type": "application/vnd.microsoft.error",
			"value": map[string]string{"code": "NotNow", "message": "It could not be noted. Press it again in a moment."}})
	}
	late := time.NewTimer(answerTime)
	defer late.Stop()
	told := "✓"
	select {
	case told = <-words:
	case <-late.C:
	case <-ctx.Done():
	}
	return endpoint.JSON(http.StatusOK, map[string]any{"statusCode": http.StatusOK, "type": "application/vnd.microsoft.activity.message",
		"value": told})
}
