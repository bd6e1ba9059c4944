package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/handler"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/session"
)

// Limits of handlers.
const (
	handlerTime  = 10 * time.Second
	builtinTime  = 15 * time.Minute
	bootTime     = 2 * time.Second // all that is asked before a prompt, together
	leaveTime    = 5 * time.Second // what a stop of Hearth waits for
	maxLane      = 100             // events of one handler
	maxQueue     = 1000            // events of all
	atOnce       = 4               // handlers at the same time
	restAfter    = 10 * time.Minute
	scriptTools  = 20
	reportFailed = time.Hour
)

// event is what a handler reads.
type event struct {
	Type       string         `json:"type"`
	Action     string         `json:"action"`
	SessionKey string         `json:"sessionKey"`
	Timestamp  time.Time      `json:"timestamp"`
	Messages   []string       `json:"messages"`
	Context    map[string]any `json:"context"`
	// Options are ours: what the settings say to this handler alone.
	Options json.RawMessage `json:"options,omitempty"`

	route  string
	others bool
}

// inside tells handlers what happens. Nobody waits for one, but for the files that
// it adds to a prompt and for the moment in which Hearth stops.
type inside struct {
	o       Options
	bundled map[string]builtin
	queue   chan *event // pointers: room for a thousand events themselves would be 150 KB
	slots   chan struct{}
	done    sync.WaitGroup

	mu      sync.Mutex
	lanes   map[string]*lane  // by handler
	records map[string]record // by handler
	dropped int
}

// lane is what waits for one handler, which is told one thing after the other.
type lane struct {
	waiting []event
	busy    bool
}

// record is what became of a handler since the start.
type record struct {
	runs     int
	at       time.Time
	took     time.Duration
	problem  string // of the last run, "" for none
	failedAt time.Time
	rests    time.Time // until then it is not asked before a prompt
	dropped  int
}

func newInside(o Options) *inside {
	i := &inside{
		o: o, queue: make(chan *event, maxQueue), slots: make(chan struct{}, atOnce), lanes: map[string]*lane{}, records: map[string]record{},
	}
	i.bundled = i.builtins()
	return i
}

// Hear implements session.Listener.
func (i *inside) Hear(h session.Happening) {
	if !i.wanted() {
		return
	}
	i.put(event{
		Type: h.Type, Action: h.Action, SessionKey: h.SessionKey, Timestamp: i.o.Now().UTC(), Messages: []string{}, Context: h.Facts,
		route: h.Route, others: h.Others,
	})
}

// wanted reports whether any handler could be enabled.
func (i *inside) wanted() bool {
	set := i.settings()
	if !set.On() {
		return false
	}
	for _, e := range set.Entries {
		if e.Enabled != nil && *e.Enabled {
			return true
		}
	}
	return false
}

func (i *inside) settings() Internal { return InternalSection.Of(i.o.Settings.Snapshot().Config) }

func (i *inside) put(ev event) {
	select {
	case i.queue <- &ev:
	default:
		i.mu.Lock()
		i.dropped++
		i.mu.Unlock()
	}
}

// run tells handlers until ctx ends, and then that Hearth stops.
func (i *inside) run(ctx context.Context) error {
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	if i.wanted() {
		i.put(event{Type: "gateway", Action: "startup", SessionKey: "gateway:startup", Timestamp: i.o.Now().UTC(), Messages: []string{},
			Context: map[string]any{"workspaceDir": i.o.Agents.Book().Default().Workspace}})
	}
	for {
		select {
		case ev := <-i.queue:
			i.give(work, *ev)
			continue
		case <-ctx.Done():
		}
		break
	}
	i.leave(work)
	stop(errors.New("Hearth is stopping"))
	i.done.Wait()
	return nil
}

// leave tells that Hearth stops, and waits a moment for what is told.
func (i *inside) leave(ctx context.Context) {
	if !i.wanted() {
		return
	}
	going := i.o.Inside.Leaving()
	facts := map[string]any{"reason": going.Reason, "restartExpectedMs": nil}
	actions := []string{"shutdown"}
	if going.RestartExpectedMs > 0 {
		facts["restartExpectedMs"] = going.RestartExpectedMs
		actions = []string{"pre-restart", "shutdown"}
	}
	for {
		select {
		case ev := <-i.queue: // what happened before
			i.give(ctx, *ev)
			continue
		default:
		}
		break
	}
	for _, a := range actions {
		i.give(ctx, event{Type: "gateway", Action: a, SessionKey: "gateway:" + a, Timestamp: i.o.Now().UTC(), Messages: []string{},
			Context: facts})
	}
	all := make(chan struct{})
	go func() { // it ends with run's own wait at the latest
		i.done.Wait()
		close(all)
	}()
	late := time.NewTimer(leaveTime)
	defer late.Stop()
	select {
	case <-all:
	case <-late.C:
	}
}

// give puts an event into the lanes of those who want it.
func (i *inside) give(ctx context.Context, ev event) {
	for _, s := range i.states() {
		if !s.Runs() || !s.Hears(ev.Type, ev.Action) || !i.concerns(s, ev) {
			continue
		}
		i.mu.Lock()
		l := i.lanes[s.Path()]
		if l == nil {
			l = &lane{}
			i.lanes[s.Path()] = l
		}
		switch {
		case len(l.waiting) >= maxLane:
			r := i.records[s.Path()]
			r.dropped++
			i.records[s.Path()] = r
		default:
			l.waiting = append(l.waiting, ev)
			if !l.busy {
				l.busy = true
				i.done.Go(func() { i.serve(ctx, l, s.Path()) })
			}
		}
		i.mu.Unlock()
	}
}

// concerns reports whether an event is of the assistant whose handler it is.
func (i *inside) concerns(s handler.State, ev event) bool {
	return s.Agent == "" || ev.Type == "gateway" || ev.SessionKey != "" && session.AgentOf(ev.SessionKey) == s.Agent
}

// serve tells one handler what waits for it.
func (i *inside) serve(ctx context.Context, l *lane, path string) {
	for {
		i.mu.Lock()
		if len(l.waiting) == 0 {
			l.busy = false
			i.mu.Unlock()
			return
		}
		ev := l.waiting[0]
		l.waiting = l.waiting[1:]
		i.mu.Unlock()
		select {
		case i.slots <- struct{}{}:
		case <-ctx.Done():
			continue // it stops; what waits is not told any more
		}
		i.tellOne(ctx, path, ev)
		<-i.slots
	}
}

// tellOne tells a handler, if it is still the one that was enabled.
func (i *inside) tellOne(ctx context.Context, path string, ev event) {
	all := i.states()
	at := slices.IndexFunc(all, func(s handler.State) bool { return s.Path() == path })
	if at < 0 || !all[at].Runs() || ctx.Err() != nil {
		return
	}
	s := all[at]
	reply, err := i.call(ctx, s, ev, i.limit(s))
	if err == nil {
		err = i.answer(ctx, s, ev, reply)
	}
	if err != nil && ctx.Err() == nil {
		i.o.Log.Warn("a hook failed", "hook", s.Name, "event", ev.Type+":"+ev.Action, "err", err)
	}
}

// limit is how long a handler may take.
func (i *inside) limit(s handler.State) time.Duration {
	if s.Form == handler.Builtin {
		return builtinTime
	}
	if n := i.settings().Entries[s.Key].TimeoutSeconds; n > 0 {
		return time.Duration(n) * time.Second
	}
	return handlerTime
}

// call tells one handler and notes what became of it.
func (i *inside) call(ctx context.Context, s handler.State, ev event, limit time.Duration) (r handler.Reply, err error) {
	begun := time.Now()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it failed inside Hearth: %v", p)
		}
		i.note(s, begun, err)
	}()
	if s.Form != handler.Builtin {
		if err := i.o.Inside.Pause.Check(pause.UseTool); err != nil {
			return r, fmt.Errorf("it was not told: %w", err)
		}
	}
	ev.Options = optionsOf(i.settings().Entries[s.Key])
	ctx, stop := context.WithTimeoutCause(ctx, limit, handler.ErrTimeout)
	defer stop()
	switch s.Form {
	case handler.Builtin:
		return i.bundled[s.Name].do(ctx, ev)
	case handler.Script:
		return i.script(ctx, s, ev, limit)
	}
	text, err := i.eventText(ev)
	if err != nil {
		return r, err
	}
	st, err := i.start(ctx, s, ev, limit)
	if err != nil {
		return r, err
	}
	return s.Run(ctx, st, text)
}

// eventText is an event as a program reads it: without what is known to be a secret.
func (i *inside) eventText(ev event) ([]byte, error) {
	raw, err := json.Marshal(ev)
	if err != nil {
		return nil, fmt.Errorf("write the event down: %w", err)
	}
	if hidden := i.o.Inside.Redactor.Text(string(raw)); json.Valid([]byte(hidden)) {
		raw = []byte(hidden)
	}
	return append(raw, '\n'), nil
}

// start says how a program of a handler is started: as commands are, with nothing
// of our environment but what they get.
func (i *inside) start(ctx context.Context, s handler.State, ev event, limit time.Duration) (handler.Start, error) {
	st := handler.Start{
		Processes: i.o.Inside.Execution.Processes, Path: i.o.Inside.Execution.SearchPath, Env: slices.Clone(i.o.Inside.Execution.Environ),
		Dir: i.o.Inside.Execution.Home, Timeout: limit,
	}
	who := i.o.Agents.Book().Default()
	if ev.SessionKey != "" && ev.Type != "gateway" {
		who = i.o.Agents.OfSession(ev.SessionKey)
	}
	if isFolder(who.Workspace) {
		st.Dir = who.Workspace
	}
	for name, v := range i.settings().Entries[s.Key].Env { // what the owner gave to this one by name
		text, err := i.o.Secrets.Value(ctx, "hooks.internal.entries."+s.Key+".env."+name, v)
		if err != nil {
			return st, fmt.Errorf("its variable %s cannot be had: %w", name, err)
		}
		st.Env = append(st.Env, name+"="+text.Reveal())
	}
	return st, nil
}

// note keeps what became of telling a handler.
func (i *inside) note(s handler.State, begun time.Time, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	r := i.records[s.Path()]
	r.runs, r.at, r.took, r.problem = r.runs+1, i.o.Now(), time.Since(begun), ""
	if err != nil {
		r.problem, r.failedAt = err.Error(), i.o.Now()
	}
	i.records[s.Path()] = r
}

// places are where handlers are looked for.
func (i *inside) places() handler.Places {
	p := handler.Places{
		Managed: filepath.Join(string(i.o.Inside.Dir), "hooks"), Extra: i.settings().ExtraDirs, Workspaces: map[string]string{},
		Bundled: bundledHooks(),
	}
	for _, a := range i.o.Agents.Book().All() {
		p.Workspaces[a.ID] = a.Workspace
	}
	return p
}
