// Package session holds the tools that look at conversations. They read; they
// do not change anything.
package session

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
)

//go:embed status.md
var statusDescription string

// Facts is what session_status tells.
type Facts struct {
	Messages  int
	Usage     model.Usage
	CreatedAt time.Time
}

// Status is the tool session_status.
type Status struct {
	// Facts looks a session up.
	Facts func(ctx context.Context, sessionKey string) (Facts, error)
	Now   func() time.Time
	Start time.Time // of the gateway
}

// Spec describes the tool.
func (s *Status) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name:        "session_status",
		Description: strings.TrimSpace(statusDescription),
		Schema:      json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
	}
}

// Run reports on the session of the call.
func (s *Status) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	f, err := s.Facts(ctx, call.SessionKey)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the session could not be read: %w", err)
	}
	now := s.Now()
	var b strings.Builder
	fmt.Fprintf(&b, "session: %s\n", call.SessionKey)
	fmt.Fprintf(&b, "model: %s\n", call.Model)
	fmt.Fprintf(&b, "messages: %d\n", f.Messages)
	fmt.Fprintf(&b, "tokens: %d in, %d out\n", f.Usage.Input+f.Usage.CacheRead+f.Usage.CacheWrite, f.Usage.Output)
	fmt.Fprintf(&b, "started: %s\n", f.CreatedAt.Format("2006-01-02 15:04"))
	fmt.Fprintf(&b, "time: %s\n", now.Format("Monday 2006-01-02 15:04 MST"))
	fmt.Fprintf(&b, "gateway up: %s", now.Sub(s.Start).Round(time.Second))
	return tool.Text(b.String()), nil
}
