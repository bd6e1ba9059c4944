// Package cron is the feature that lets things happen by themselves: jobs that
// are due at a time, again and again, or when something ends, and what they do.
// When a job is due, and that no slot is lost or happens twice, is package job's.
package cron

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/answers"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/bootclock"
	"github.com/hearth-assistant/hearth/gateway/channel/hub"
	"github.com/hearth-assistant/hearth/gateway/clock"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/egress/publicweb"
	"github.com/hearth-assistant/hearth/gateway/execution"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/job"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/outbound"
	"github.com/hearth-assistant/hearth/gateway/owner"
	"github.com/hearth-assistant/hearth/gateway/pause"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/choice"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/spend/budget"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/task"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/gate"
	"github.com/hearth-assistant/hearth/gateway/uuid"
	"github.com/hearth-assistant/hearth/gateway/watch"
)

// Clients are shown what happens.
type Clients interface {
	Broadcast(b server.Broadcast)
	Clients() int // that are connected
}

// Outside says which calls come of text from outside.
type Outside interface{ Outside(call tool.Call) bool }

// Keys knows the secrets that the settings refer to.
type Keys interface {
	Known(v secret.Setting) (secret.Secret, bool)
	Value(ctx context.Context, field string, v secret.Setting) (secret.Secret, error)
}

// Options are the parts that the feature needs; all of them.
type Options struct {
	DB        *store.DB
	Settings  *config.File
	Agents    *agents.Directory
	Sessions  *session.Manager
	Models    *choice.Chooser
	Answers   *answers.Networks
	Deliverer *outbound.Deliverer
	Owner     *owner.Line
	Channels  *hub.Hub
	Budget    *budget.Budget
	Pause     *pause.Switch
	Gate      *gate.Gate
	Taint     Outside
	Execution *execution.Environment
	Programs  Programs
	Direct    *gate.Direct
	Clients   Clients
	Web       *publicweb.Web
	Keys      Keys
	Clock     *clock.Clock
	Work      *background.Group
	Tasks     *task.Book
	Monitor   Monitor // nil: Hearth has no jobs of its own
	Adder     *Adder  // is made to work; nil: nobody else makes jobs
	Now       func() time.Time
	Booted    func() (time.Duration, bool) // the time since the computer was started, with sleep; nil: as the system says
	Logger    *slog.Logger
}

type feature struct {
	Options
	book    *job.Book
	boot    string        // of this process
	kick    chan struct{} // something changed about jobs
	due     chan struct{} // something is to be posted
	posts   store.Bucket[post]
	wishes  store.Bucket[proposal] // what the assistant would do, by id
	keeper  *watch.Keeper          // of what jobs watch that is no program
	sources chan struct{}          // something changed about jobs, for it
	own     chan struct{}          // the settings of Hearth's own jobs may be others
	person  *zone                  // whose times are meant

	mu      sync.Mutex
	working map[string]bool          // runs that this process works on
	looks   map[string]time.Duration // by run: after how long its job wants to look again
	stopped map[string]bool          // runs that somebody cancelled
}

// Adder makes jobs as the method cron.add does, for other features. The zero value
// makes none: there is no feature behind it.
type Adder struct{ f *feature }

// On reports whether it makes any.
func (a *Adder) On() bool { return a.f != nil }

// Add makes one.
func (a *Adder) Add(ctx context.Context, s protocol.CronSpec) (protocol.CronAdded, error) {
	return a.f.addFor(ctx, s, false)
}

// Open makes the feature.
func Open(o Options) (host.Feature, error) {
	f := &feature{
		Options: o, boot: uuid.New(), kick: make(chan struct{}, 1), due: make(chan struct{}, 1), posts: store.NewBucket[post]("cron.posts"),
		working: map[string]bool{}, looks: map[string]time.Duration{}, stopped: map[string]bool{}, sources: make(chan struct{}, 1),
		own:    make(chan struct{}, 1),
		wishes: store.NewBucket[proposal]("cron.proposals"), person: &zone{clock: o.Clock},
	}
	f.keeper = watch.New(o.DB, sources{f}, o.Logger)
	var err error
	if o.Booted == nil {
		o.Booted = bootclock.Now
	}
	f.book, err = job.Open(job.Options{
		DB: o.DB, Now: o.Now, Awake: o.Booted, Zone: f.zone, NewID: uuid.New, Logger: o.Logger, Limits: f.limits, Changed: f.changed,
	})
	if err != nil {
		return host.Feature{}, err
	}
	if o.Adder != nil {
		o.Adder.f = f
	}
	o.Sessions.Subscribe(session.Subscriber{Outbox: ends{f}})
	o.Deliverer.Follow(f.receipt)
	o.Tasks.Own(protocol.TaskAutomation, doer{f})
	o.Gate.AddRule(f.rule)
	stop := o.Settings.Subscribe(nil, func(config.Config, config.Config) {
		f.person.forget()
		f.redeclare()
		f.book.Wake()
		f.kicked()
	})
	return host.Feature{
		Methods: f.methods(), Tools: []tool.Tool{&cronTool{f}}, Commands: f.commands(), Problems: f.problems,
		Run: func(ctx context.Context) error { return f.run(ctx) },
		Close: func(context.Context) error {
			stop()
			return nil
		},
	}, nil
}

func (f *feature) methods() []method.Method {
	return []method.Method{
		method.Plain(protocol.MethodCronList, f.list),
		method.Plain(protocol.MethodCronStatus, f.status),
		method.Plain(protocol.MethodCronGet, f.get),
		method.Plain(protocol.MethodCronAdd, f.add),
		method.Plain(protocol.MethodCronUpdate, f.update),
		method.Plain(protocol.MethodCronRemove, f.remove),
		method.Plain(protocol.MethodCronRun, f.start),
		method.Plain(protocol.MethodCronRuns, f.runs),
		method.Plain(protocol.MethodCronScratchGet, f.scratch),
		method.Plain(protocol.MethodCronScratchSet, f.setScratch),
		method.Plain(protocol.MethodWake, f.wake),
		method.Plain(protocol.MethodCronPreview, f.preview),
		method.Plain(protocol.MethodCronCalendar, f.calendar),
		method.Plain(protocol.MethodCronMissed, f.missed),
		method.Plain(protocol.MethodCronMissedResolve, f.resolve),
		method.Plain(protocol.MethodCronSnooze, f.snooze),
		method.Plain(protocol.MethodCronSeen, f.seen),
		method.Plain(protocol.MethodCronAct, f.act),
		method.Plain(protocol.MethodCronWatchTest, f.testWatch),
		method.Plain(protocol.MethodCronProposals, f.proposed),
		method.Plain(protocol.MethodCronProposalAnswer, f.answer),
	}
}

// run looks after jobs, and after whether somebody is there.
func (f *feature) run(ctx context.Context) error {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { f.watchClients(ctx) })
	work.Go(func() { f.declare(ctx) })
	work.Go(func() { f.watchPrograms(ctx) })
	work.Go(func() { f.postAll(ctx) })
	work.Go(func() { f.keepSources(ctx) })
	work.Go(func() { _ = f.keeper.Run(ctx) })
	return f.book.Run(ctx, f)
}

// watchClients tells the book when the first client is connected. After two minutes
// the book knows by itself that the gateway is well.
func (f *feature) watchClients(ctx context.Context) {
	t := time.NewTicker(100 * time.Millisecond)
	defer t.Stop()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if f.Clients.Clients() > 0 {
			f.book.Ready()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

func (f *feature) settings() job.Settings { return job.Section.Of(f.Settings.Snapshot().Config) }

func (f *feature) limits() job.Limits {
	c := f.settings()
	l := job.Limits{On: c.Enabled, AtOnce: c.MaxConcurrentRuns, Late: 2, KeepRuns: 7 * 24 * time.Hour, RunsPerJob: 2000}
	if !c.SkipMissedJobs {
		return l
	}
	l.CatchUp = &protocol.CronCatchUp{Mode: "skip"}
	return l
}

// kicked says that something changed about jobs. It does not block.
func (f *feature) kicked() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
	select {
	case f.sources <- struct{}{}:
	default:
	}
}

func (f *feature) changed(ev protocol.CronEvent) {
	f.kicked()
	if ev.Job != nil {
		f.describe(ev.Job)
	}
	f.Clients.Broadcast(server.Broadcast{Event: protocol.EventCron, Payload: ev})
	if ev.RunID != "" {
		f.report(ev.RunID)
	}
}

// problems are jobs that were disabled by themselves, and a zone that there is not.
func (f *feature) problems() (out []protocol.Problem) {
	if tz := f.Clock.Unknown(); tz != "" {
		out = append(out, protocol.Problem{Code: "ZONE", Message: fmt.Sprintf("TZ names a time zone that is not known here (%s), so times are "+
			"those of UTC. Set agents.defaults.userTimezone, or TZ, to one like Europe/Vienna.", tz)})
	}
	jobs, _ := f.book.All()
	for _, j := range jobs {
		if d := j.State.AutoDisabled; d != nil && !j.On() && len(out) < 5 {
			out = append(out, protocol.Problem{Code: "JOB", Message: "The job “" + j.Name + "” was disabled after failures: " + j.State.LastError +
				" Mend it, then run `hearth cron enable " + j.ID + "`."})
		}
	}
	return out
}

// forClients are the errors of the book in the words of OpenClaw's clients.
func forClients(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, job.ErrNotFound), errors.Is(err, job.ErrTooMany), errors.Is(err, job.ErrChanged):
		return protocol.Invalid("%s", err.Error())
	}
	return err
}
