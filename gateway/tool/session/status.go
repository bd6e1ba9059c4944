// Package session holds the tools about conversations: the state of this one,
// looking at others, sending to them, and sub-agents. It reads what a model
// asks for and words what comes of it; where sessions are, which of them may be
// seen and how a sub-agent is run is handed in. What other sessions hold is
// marked as text from outside.
package session

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
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

// Clock is how a person reads the time.
type Clock struct {
	Zone  *time.Location
	Name  string // of the zone, in full
	Hours int    // 12 or 24
}

// read words a moment.
func (c Clock) read(t time.Time) string {
	layout := "Monday 2006-01-02 15:04 MST"
	if c.Hours == 12 {
		layout = "Monday 2006-01-02 3:04 PM MST"
	}
	if c.Zone != nil {
		t = t.In(c.Zone)
	}
	s := t.Format(layout)
	if c.Name != "" {
		s += " (" + c.Name + ")"
	}
	return s
}

// Status is the tool session_status.
type Status struct {
	// Facts looks a session up.
	Facts func(ctx context.Context, sessionKey string) (Facts, error)
	Now   func() time.Time
	Start time.Time // of the gateway
	// Clock is the zone of the person and how their clock is read; nil: the
	// gateway's, with 24 hours.
	Clock func() Clock
	// Switch changes the model of a session and returns its full name; nil: it
	// cannot be changed here.
	Switch func(ctx context.Context, call tool.Call, name string) (string, error)
}

// Spec describes the tool.
func (s *Status) Spec() model.ToolSpec {
	return model.ToolSpec{
		Name:        "session_status",
		Description: strings.TrimSpace(statusDescription),
		Schema: json.RawMessage(
			`{"type":"object","properties":{"model":{"type":"string","description":"provider/model, or default: switch to it"}},"additionalProperties":false}`),
	}
}

// Run reports on the session of the call.
func (s *Status) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var raw struct {
		Model string `json:"model"`
	}
	if err := readArgs(call.Args, &raw); err != nil {
		return tool.Result{}, err
	}
	said := ""
	if raw.Model != "" {
		to, err := s.change(ctx, call, raw.Model)
		if err != nil {
			return tool.Result{}, err
		}
		said = "changed: this conversation is answered by " + to + " from its next step on\n"
	}
	f, err := s.Facts(ctx, call.SessionKey)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the session could not be read: %w", err)
	}
	now := s.Now()
	var b strings.Builder
	b.WriteString(said)
	fmt.Fprintf(&b, "session: %s\n", call.SessionKey)
	fmt.Fprintf(&b, "model: %s\n", call.Model)
	fmt.Fprintf(&b, "messages: %d\n", f.Messages)
	fmt.Fprintf(&b, "tokens: %d in, %d out\n", f.Usage.Input+f.Usage.CacheRead+f.Usage.CacheWrite, f.Usage.Output)
	var clock Clock
	if s.Clock != nil {
		clock = s.Clock()
	}
	if clock.Zone != nil {
		f.CreatedAt = f.CreatedAt.In(clock.Zone)
	}
	if f.CreatedAt.UnixMilli() > 0 { // a tool may be called where nothing was said yet
		fmt.Fprintf(&b, "started: %s\n", f.CreatedAt.Format("2006-01-02 15:04"))
	}
	fmt.Fprintf(&b, "time: %s\n", clock.read(now))
	fmt.Fprintf(&b, "gateway up: %s", now.Sub(s.Start).Round(time.Second))
	return tool.Text(b.String()), nil
}

// change switches the model, for the owner only: others' words must not make
// the owner's conversation cost more, or go elsewhere.
func (s *Status) change(ctx context.Context, call tool.Call, name string) (string, error) {
	switch {
	case !call.Owner || call.Group || call.Relayed || call.Depth > 0:
		return "", errors.New("the model was not changed: only the owner's own words in a direct chat change it")
	case s.Switch == nil:
		return "", errors.New("the model cannot be changed here")
	}
	return s.Switch(ctx, call, name)
}
