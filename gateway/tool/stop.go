package tool

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// lingerFor is how long a tool may take to end after it was stopped: commands get
// the time that they have to end in good order, and a little more.
const lingerFor = 10 * time.Second

// untilStopped waits for a tool to end. One that does not end although it was
// stopped is left behind, with whatever it says from then on: its conversation goes
// on, and the fault is noted (F-LIFE-06). It may have done what it was for.
func (s *Set) untilStopped(ctx context.Context, res model.ToolResult, c Call, perform func(Call) model.ToolResult) model.ToolResult {
	var mu sync.Mutex // held while the tool is heard
	left, show := false, c.Progress
	c.Progress = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if !left {
			show(text)
		}
	}
	done := make(chan model.ToolResult, 1)
	go func() { done <- perform(c) }()
	select {
	case res := <-done:
		return res
	case <-ctx.Done():
	}
	linger := time.NewTimer(lingerFor)
	defer linger.Stop()
	select {
	case res := <-done:
		return res
	case <-linger.C:
	}
	mu.Lock()
	left = true
	mu.Unlock()
	if s.broken != nil {
		s.broken(res.Name, fmt.Sprintf("it did not end within %v of being stopped", lingerFor))
	}
	return fail(res, fmt.Sprintf("The tool %s did not end when it was stopped. It may have done what it was for.", res.Name))
}
