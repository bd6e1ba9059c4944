package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/app/tray/menu"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Act does what a row says at the gateway. Rows that open something are not
// its business.
func (w *Watch) Act(ctx context.Context, a menu.Action) error {
	switch a.Verb {
	case menu.AllowOnce:
		return w.decide(ctx, a.Arg, "allow-once", "once")
	case menu.AllowHere:
		return w.decide(ctx, a.Arg, "allow-always", "here")
	case menu.AllowFolder:
		return w.decide(ctx, a.Arg, "allow-always", "folder")
	case menu.Deny:
		return w.decide(ctx, a.Arg, "deny", "")
	case menu.LetIn:
		return w.call(ctx, protocol.MethodPairApprove, protocol.PairDecisionParams{RequestID: a.Arg}, "let the device in")
	case menu.TurnAway:
		return w.call(ctx, protocol.MethodPairReject, protocol.PairDecisionParams{RequestID: a.Arg}, "turn the device away")
	case menu.StopRun:
		return w.call(ctx, protocol.MethodSessionsAbort, protocol.SessionsAbortParams{Key: a.Arg}, "stop the answer")
	case menu.Allow:
		return w.call(ctx, protocol.MethodUsageAllow, protocol.UsageAllowParams{Once: true}, "let one answer through")
	case menu.PauseHour:
		return w.pause(ctx, "everything", time.Hour)
	case menu.PauseDay:
		return w.pause(ctx, "everything", untilMorning(w.o.Now()))
	case menu.PauseTools:
		return w.pause(ctx, "tools", 0)
	case menu.PauseNet:
		return w.pause(ctx, "network", 0)
	case menu.Install:
		return w.call(ctx, protocol.MethodUpdateRun, protocol.UpdateRunParams{}, "install the update")
	case menu.Resume:
		return w.pause(ctx, "off", 0)
	}
	return fmt.Errorf("nothing is known to do for %q", a.Verb)
}

// Link makes a link that lets a window or a browser in, once.
func (w *Watch) Link(ctx context.Context) (string, error) {
	var l protocol.LaunchLink
	err := w.ask(ctx, protocol.MethodLaunchLink, protocol.LaunchLinkParams{}, &l)
	return l.URL, err
}

// LastRun is the run of the last message of a chat.
func (w *Watch) LastRun(ctx context.Context, key string) (string, error) {
	var y protocol.Why
	err := w.ask(ctx, protocol.MethodWhy, protocol.WhyParams{Key: key}, &y)
	return y.RunID, err
}

// Bundle is what a person may pass on when asking for help: no message, no
// key, no name of a chat.
func (w *Watch) Bundle(ctx context.Context) (string, error) {
	var d protocol.Doctor
	if err := w.ask(ctx, protocol.MethodDoctor, protocol.DoctorParams{}, &d); err != nil {
		return "", err
	}
	var st protocol.Status
	if err := w.ask(ctx, protocol.MethodStatus, struct{}{}, &st); err != nil {
		return "", err
	}
	h := st.Hearth
	b, err := json.MarshalIndent(map[string]any{
		"version": h.Version, "uptimeMs": h.UptimeMs, "model": h.Model, "modelSource": h.ModelSource,
		"residentBytes": h.ResidentBytes, "storeBytes": h.StoreBytes, "clients": h.Clients,
		"problems": h.Problems, "checks": d.Checks,
	}, "", "  ")
	return string(b), err
}

func (w *Watch) decide(ctx context.Context, id, decision, scope string) error {
	return w.call(ctx, protocol.MethodExecApprovalResolve, protocol.ApprovalResolveParams{ID: id, Decision: decision, HearthScope: scope},
		"answer the request")
}

func (w *Watch) pause(ctx context.Context, level string, d time.Duration) error {
	return w.call(ctx, protocol.MethodPauseSet, protocol.PauseSetParams{Level: level, DurationMs: d.Milliseconds()}, "pause Hearth")
}

func (w *Watch) call(ctx context.Context, method string, params any, what string) error {
	var none json.RawMessage
	if err := w.ask(ctx, method, params, &none); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	w.Look()
	return nil
}

// Look has the state read anew.
func (w *Watch) Look() {
	select {
	case w.nudge <- struct{}{}:
	default:
	}
}

func (w *Watch) ask(ctx context.Context, method string, params, result any) error {
	w.mu.Lock()
	c := w.c
	w.mu.Unlock()
	if c == nil {
		return ErrNotConnected
	}
	return c.Call(ctx, method, params, result)
}

// untilMorning is how long it is until 6 o'clock of the next day.
func untilMorning(now time.Time) time.Duration {
	y, m, d := now.Date()
	return time.Date(y, m, d+1, 6, 0, 0, 0, now.Location()).Sub(now)
}

// tool notes which tool a run uses, and reports whether that is news.
func (w *Watch) tool(e protocol.Event) bool {
	var a protocol.AgentEvent
	if json.Unmarshal(e.Payload, &a) != nil || a.Stream == "assistant" {
		return false
	}
	if a.Stream != "tool" {
		return true
	}
	phase, _ := a.Data["phase"].(string)
	name, _ := a.Data["name"].(string)
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.doing[a.RunID]
	switch {
	case phase == "start" && name != "":
		w.doing[a.RunID] = words(name)
	case phase == "result" || phase == "end":
		delete(w.doing, a.RunID)
	}
	return w.doing[a.RunID] != was
}

// words says what a tool does.
func words(tool string) string {
	known := map[string]string{
		"read": "reading a file", "write": "writing a file", "edit": "changing a file", "apply_patch": "changing files",
		"exec": "running a command", "process": "watching a command", "web_fetch": "reading a web page", "web_search": "searching the web",
		"memory_search": "looking into its memory", "message": "sending a message", "image": "looking at a picture",
	}
	if w, ok := known[tool]; ok {
		return w
	}
	return "using " + tool
}
