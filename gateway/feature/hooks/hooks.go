// Package hooks is the feature by which other programs start something here: a
// POST to /hooks/wake, /hooks/agent or /hooks/<name> becomes a message to an
// assistant. A caller proves itself with a token, or with the signature of a
// service; an answer of 202 means that the message is on disk. What is sent is
// somebody else's words: a run that comes of it has the tools of a stranger.
//
// It is also the one by which programs and scripts of the owner's are told what
// happens inside (inside): when, and what is done with what they say.
//
// It does not own how services sign and what templates say (package webhook), how
// messages are answered (package session), nor where those programs are found and
// how they are run (package handler).
package hooks

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/codemode"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/dispatch"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/systemprompt"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

// Secrets finds what settings refer to.
type Secrets interface {
	Value(ctx context.Context, field string, v secret.Setting) (secret.Secret, error)
}

// Networks are the accounts that are connected.
type Networks interface {
	Find(network, account string) channel.Channel
}

// Models says which models may be asked for by a name.
type Models interface {
	ForAssistant(name string) (string, error)
}

// Options are the parts that the feature needs; all of them.
type Options struct {
	Store    *store.DB
	Settings *config.File
	Secrets  Secrets
	Agents   *agents.Directory
	Sessions *session.Manager
	Dispatch *dispatch.Dispatcher
	Models   Models
	Networks Networks
	Inside   Inside
	Now      func() time.Time
	Log      *slog.Logger
}

// Clients are the programs that are connected.
type Clients interface {
	Presence() []protocol.PresenceEntry
}

// Answers take words to messaging networks.
type Answers interface {
	// MaySend asks the send policy about a session and a route.
	MaySend(sessionKey string, r channel.Route) bool
	// Deliver keeps a message and has it sent.
	Deliver(ctx context.Context, d outbound.Delivery) error
}

// Programs run scripts.
type Programs interface {
	RunScript(ctx context.Context, s codemode.Script, brought func(name string) bool) (codemode.Result, error)
}

// Inside is what telling handlers needs beside the rest; all of it.
type Inside struct {
	Dir       statedir.Dir
	Env       func(name string) string
	Clock     *clock.Clock
	Pause     *pause.Switch
	Direct    *gate.Direct
	Execution *execution.Environment
	Code      Programs
	Prompts   *systemprompt.Maker
	Files     *workspace.Keeper
	Deliverer *outbound.Deliverer
	Answers   Answers
	Clients   Clients
	Redactor  *redact.Redactor
	Leaving   func() server.Leaving
	Work      *background.Group
}

type feature struct {
	o      Options
	path   string // where it is mounted
	book   *book
	inside *inside
	tries  *tries
	// unproven are places for bodies that are read before anybody knows who sends them.
	unproven chan struct{}

	mu     sync.Mutex
	limits map[limitKey]*limit
}

// limitKey is a hook with what it is allowed: mappings of one address may differ.
type limitKey struct {
	hook      string
	perMinute int
}

// limit is how often one hook may be called, and how many items its lists may bring.
type limit struct{ calls, items *rate.Limiter }

// New makes the feature.
func New(o Options) (host.Feature, error) {
	f := &feature{
		o: o, path: Section.Of(o.Settings.Snapshot().Config).Path, tries: newTries(), unproven: make(chan struct{}, maxUnproven),
		limits: map[limitKey]*limit{}, inside: newInside(o),
	}
	o.Sessions.Subscribe(session.Subscriber{Hears: f.inside})
	o.Inside.Deliverer.Follow(f.inside.sent)
	o.Inside.Prompts.SetExtras(f.inside)
	var err error
	if f.book, err = openBook(o); err != nil {
		return host.Feature{}, err
	}
	return host.Feature{
		Mounts:   map[string]http.Handler{f.path + "/": f},
		Methods:  f.inside.methods(),
		Problems: f.problems,
		Checks:   f.inside.checks,
		Run: func(ctx context.Context) error {
			var work sync.WaitGroup
			defer work.Wait()
			work.Go(func() { _ = f.inside.run(ctx) })
			return f.book.run(ctx)
		},
	}, nil
}

// Outward implements server.Outward: every request proves itself.
func (*feature) Outward() {}

func (f *feature) problems() []protocol.Problem {
	return append(f.moved(), f.inside.problems()...)
}

// moved: the path is another one than when Hearth started.
func (f *feature) moved() []protocol.Problem {
	if h := Section.Of(f.o.Settings.Snapshot().Config); h.Enabled && h.Path != f.path {
		return []protocol.Problem{{Code: "HOOKS_PATH", Message: "hooks.path is now " + h.Path +
			"; until Hearth is restarted, hooks are called at " + f.path + "."}}
	}
	return nil
}

// allowed takes one of the calls that a hook has in a minute, whatever it asks for,
// and the items of its list from a limit of their own, in which the longest list has
// room. What is refused takes nothing.
func (f *feature) allowed(h Configured, in incoming, p plan) error {
	key, setting := limitKey{in.name, h.PerMinute}, "hooks.perMinute"
	if p.perMinute > 0 {
		key.perMinute, setting = p.perMinute, "perMinute of its mapping"
	}
	items := max(key.perMinute, maxItems)
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.limits[key]
	if l == nil {
		l = &limit{calls: perMinute(key.perMinute), items: perMinute(items)}
		f.limits[key] = l
	}
	now := f.o.Now()
	call := l.calls.ReserveN(now, 1)
	if wait := call.DelayFrom(now); wait > 0 {
		call.CancelAt(now)
		return &refusal{http.StatusTooManyRequests, fmt.Sprintf("This hook was called too often; %s allows %d a minute. Send it again later.",
			setting, key.perMinute), wait}
	}
	if !p.batch {
		return nil
	}
	list := l.items.ReserveN(now, len(p.actions))
	if wait := list.DelayFrom(now); wait > 0 {
		list.CancelAt(now)
		call.CancelAt(now)
		return &refusal{http.StatusTooManyRequests, fmt.Sprintf("The lists of this hook bring too much; %d items a minute are the most. "+
			"Send it again later.", items), wait}
	}
	return nil
}

func perMinute(n int) *rate.Limiter { return rate.NewLimiter(rate.Limit(float64(n)/60), n) }
