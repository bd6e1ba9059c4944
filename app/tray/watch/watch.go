// Package watch keeps the menu's state true to a gateway and does there what a
// row of the menu says. It draws nothing, and starts no gateway.
package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/app/supervise"
	"github.com/hearth-assistant/hearth/app/tray/menu"
	"github.com/hearth-assistant/hearth/app/tray/notice"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Options: all are needed.
type Options struct {
	// Dial connects with the options it is given.
	Dial    func(context.Context, client.Options) (*client.Client, error)
	Version string
	// Changed is told every new state, one at a time.
	Changed func(menu.State)
	// Answered is told of answers in chats that nobody looks at.
	Answered func(notice.Answer)
	// Settings is told what the gateway's settings say of this desktop, with
	// each connection and after each change.
	Settings func(Settings)
	Now      func() time.Time
}

// Watch is one view of a gateway.
type Watch struct {
	o       Options
	nudge   chan struct{}
	changed chan struct{} // the settings
	answers chan notice.Answer

	mu    sync.Mutex // guards the following
	c     *client.Client
	state menu.State
	slots menu.Slots[menu.Approval]
	doors menu.Slots[menu.Door]
	doing map[string]string // run → what its tool does
}

// New makes a Watch that is not connected yet.
func New(o Options) *Watch {
	return &Watch{o: o, nudge: make(chan struct{}, 1), changed: make(chan struct{}, 1), answers: make(chan notice.Answer, 16),
		state: menu.State{Version: o.Version}, doing: map[string]string{}}
}

// Events come in bursts; the state is read once for each.
const settle = 80 * time.Millisecond

// The age of sessions and the money of today go on without an event.
const minute = time.Minute

// ErrNotConnected answers a row that was chosen while no gateway was there.
var ErrNotConnected = errors.New("Hearth is not running at the moment; it is started again by itself")

// Attach connects and keeps the state true until the connection is lost. It is
// what supervise asks for.
func (w *Watch) Attach(ctx context.Context) error {
	c, err := w.o.Dial(ctx, client.Options{
		Client:  protocol.ClientInfo{ID: "hearth-tray", Mode: "ui", Version: w.o.Version, DisplayName: "Hearth in the menu bar"},
		Scopes:  []protocol.Scope{protocol.ScopeAdmin, protocol.ScopeRead, protocol.ScopeWrite, protocol.ScopeApprovals},
		OnEvent: w.event,
	})
	if errors.Is(err, statedir.ErrNotRunning) || errors.Is(err, client.ErrUnreachable) {
		return supervise.ErrNotRunning
	}
	if err != nil {
		return err
	}
	defer func() {
		w.mu.Lock()
		w.c = nil
		w.mu.Unlock()
		_ = c.Close()
		w.set(func(s *menu.State) { *s = menu.State{Link: menu.Lost, Version: s.Version, Own: s.Own} })
	}()
	var none protocol.SubscribeResult
	if err := c.Call(ctx, protocol.MethodSessionsSubscribe, struct{}{}, &none); err != nil {
		return fmt.Errorf("follow the chats: %w", err)
	}
	w.mu.Lock()
	w.c = c
	w.mu.Unlock()
	return w.follow(ctx, c)
}

func (w *Watch) follow(ctx context.Context, c *client.Client) error {
	every := time.NewTicker(minute)
	defer every.Stop()
	if err := w.settings(ctx, c); err != nil && c.Err() == nil && ctx.Err() == nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	for {
		again, err := w.read(ctx, c)
		if err != nil && c.Err() == nil && ctx.Err() == nil {
			return fmt.Errorf("ask the gateway: %w", err)
		}
		var rowFree <-chan time.Time
		if again > 0 {
			rowFree = time.After(again)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.Done():
			return c.Err()
		case <-every.C:
		case <-rowFree:
		case a := <-w.answers:
			if err := w.tell(ctx, c, a); err != nil && c.Err() == nil && ctx.Err() == nil {
				return fmt.Errorf("ask who is there: %w", err)
			}
		case <-w.changed:
			if err := w.settings(ctx, c); err != nil && c.Err() == nil && ctx.Err() == nil {
				return fmt.Errorf("read the settings: %w", err)
			}
		case <-w.nudge:
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(settle):
			}
		}
	}
}

// Down says that there is no gateway, and why.
func (w *Watch) Down(why error) {
	w.set(func(s *menu.State) {
		*s = menu.State{Link: menu.Lost, Version: s.Version, Own: s.Own}
		if why != nil {
			s.Why = why.Error()
		}
	})
}

// Owns says whether the gateway was started by this program.
func (w *Watch) Owns(own bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.Own = own
}

func (w *Watch) set(change func(*menu.State)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.state)
	w.o.Changed(w.state)
}

// event notes what a tool does and asks for a new look.
func (w *Watch) event(e protocol.Event) {
	switch e.Event {
	case protocol.EventTick, protocol.EventPresence, protocol.EventTask: // tasks are told twice
		return
	case protocol.EventChat:
		w.ended(e)
		return
	case protocol.EventConfigChanged:
		select {
		case w.changed <- struct{}{}:
		default:
		}
	case protocol.EventAgent, protocol.EventSessionTool:
		if !w.tool(e) {
			return
		}
	}
	select {
	case w.nudge <- struct{}{}:
	default:
	}
}

// read takes the state from the gateway. again is when a row for a request
// becomes free.
func (w *Watch) read(ctx context.Context, c *client.Client) (again time.Duration, err error) {
	var (
		st        protocol.Status
		list      protocol.SessionsList
		approvals []protocol.Approval
		usage     protocol.UsageStatus
		cost      protocol.UsageCost
		devices   protocol.PairedDevices
		reach     protocol.ReachStatus
	)
	for _, ask := range []struct {
		method         string
		params, result any
	}{
		{protocol.MethodStatus, struct{}{}, &st},
		{protocol.MethodSessionsList, protocol.SessionsListParams{Limit: 20, IncludeDerivedTitles: true}, &list},
		{protocol.MethodExecApprovalList, struct{}{}, &approvals},
		{protocol.MethodUsageStatus, struct{}{}, &usage},
		{protocol.MethodUsageCost, protocol.UsageCostParams{Days: 1, GroupBy: "model"}, &cost},
		{protocol.MethodPairList, struct{}{}, &devices},
		{protocol.MethodReachStatus, struct{}{}, &reach},
	} {
		if err := c.Call(ctx, ask.method, ask.params, ask.result); err != nil {
			return 0, err
		}
	}
	planned, working, version := next(ctx, c), atWork(ctx, c), newer(ctx, c)
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.o.Now()
	s := menu.State{Link: menu.Ready, Version: w.o.Version, Own: w.state.Own}
	s.Model, s.Local = st.Hearth.Model, st.Hearth.ModelSource == "detected" || st.Hearth.ModelSource == "built-in"
	s.Undeliv, s.Waiting = st.Hearth.Undelivered, len(approvals)
	for _, p := range st.Hearth.Problems {
		s.Problems = append(s.Problems, p.Message)
	}
	if p := st.Pause; p.Level != "" && p.Level != "off" {
		s.Paused = p.Level
		if p.UntilMs > 0 {
			s.PausedTill = time.UnixMilli(p.UntilMs)
		}
	}
	if u := usage.Hearth; u != nil {
		s.Today, s.Limit, s.Currency, s.Used = u.Today, u.Daily, u.Currency, u.Level == "used"
	}
	others(&s, cost, devices, reach)
	s.Next, s.Tasks, s.Update = planned, working, version
	s.Approvals, again = w.slots.Fill(waiting(approvals), now)
	var free time.Duration
	if s.Doors, free = w.doors.Fill(asking(devices.Pending), now); again == 0 || free > 0 && free < again {
		again = free
	}
	w.sessions(&s, list.Sessions)
	w.state = s
	w.o.Changed(s)
	return again, nil
}

func (w *Watch) sessions(s *menu.State, rows []protocol.SessionRow) {
	running := make(map[string]bool)
	for _, r := range rows {
		title := title(r)
		if r.HasActiveRun {
			s.Working = append(s.Working, title)
			running[r.ActiveRunID] = true
			s.Activity = w.doing[r.ActiveRunID]
		}
		if len(s.Recent) < menu.RecentSlots && !r.Archived && r.MessageCount > 0 {
			s.Recent = append(s.Recent, menu.Session{Key: r.Key, Title: title, At: time.UnixMilli(r.UpdatedAt), Running: r.HasActiveRun})
		}
	}
	for run := range w.doing {
		if !running[run] {
			delete(w.doing, run)
		}
	}
}

// title is what a chat is called; the home chat has no name of its own.
func title(r protocol.SessionRow) string {
	for _, t := range []string{r.Label, r.DisplayName, r.DerivedTitle} {
		if t != "" {
			return t
		}
	}
	return "" // the home chat
}

// facts are the lines of a request but what its title says already. Part: there
// is more to it, the text of a script.
func facts(r protocol.ApprovalRequest) (lines []string, part bool) {
	if len(r.HearthLines) == 0 && r.Cwd != nil && *r.Cwd != "" {
		lines = append(lines, "Folder: "+*r.Cwd)
	}
	for _, l := range r.HearthLines {
		said := strings.HasPrefix(l, "Text for ") || strings.HasPrefix(l, "Starts: ") || strings.HasPrefix(l, "  ") &&
			strings.Contains(r.Command, strings.TrimSpace(l))
		if r.HearthKind != "exec" || !said {
			lines = append(lines, l)
		}
	}
	for _, w := range r.HearthWarn {
		if !slices.Contains(lines, w) {
			lines = append(lines, w)
		}
	}
	return lines, len(r.HearthScripts) > 0
}

func waiting(list []protocol.Approval) []menu.Approval {
	slices.SortStableFunc(list, func(a, b protocol.Approval) int { return int(a.CreatedAtMs - b.CreatedAtMs) })
	out := make([]menu.Approval, 0, len(list))
	for _, a := range list {
		r := a.Request
		m := menu.Approval{ID: a.ID, Says: r.Says(), Title: r.Command, Here: slices.Contains(r.HearthScopes, "here")}
		if slices.Contains(r.HearthScopes, "folder") {
			m.Folder = r.HearthFolder
		}
		m.Lines, m.Part = facts(r)
		m.From = r.HearthFrom
		out = append(out, m)
	}
	return out
}
