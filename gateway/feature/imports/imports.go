// Package imports is the feature that brings in what other assistants left: it
// shows what there is and what would become of it, and then takes what is new, as a
// task. How the programs keep their things is package gateway/imports' and those
// below it; here is what becomes of each thing, and that it is taken once.
//
// A plan and an import are one walk through the source: the walk of a plan writes
// nothing. What was taken is remembered with it, in one transaction where the
// store allows that, so that a walk that was cut off is simply walked again.
package imports

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider/accounts"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/secret/lookup"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/skill"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/task"
	"github.com/hearth-assistant/hearth/gateway/undo"
)

// Jobs makes jobs.
type Jobs interface {
	On() bool // there are jobs at all
	Add(ctx context.Context, s protocol.CronSpec) (protocol.CronAdded, error)
}

// Options are the parts that the feature needs; all of them.
type Options struct {
	DB       *store.DB
	Dir      statedir.Dir
	Settings *config.File
	Secrets  *lookup.Secrets
	Sessions *session.Manager
	Agents   *agents.Directory
	Accounts *accounts.Adding
	Contacts *contact.Book
	Networks channel.Kinds
	Skills   *skill.Library
	Files    safepath.Finder
	Undo     *undo.Log
	Jobs     Jobs
	Tasks    *task.Book
	Audit    *audit.Log
	Work     *background.Group
	Env      func(string) string
	Now      func() time.Time
	Log      *slog.Logger
}

type feature struct {
	Options
	taken store.Bucket[record]
	one   sync.Mutex    // held during a walk
	swept chan struct{} // closed when what a crash left is removed

	mu      sync.Mutex
	reports map[string]protocol.ImportReport // by task
	order   []string                         // of them, the oldest first
	counted map[asked]int                    // things, by the last plan
}

// asked is what was asked for.
type asked struct{ from, path string }

// keptReports is how many reports are remembered, and counted how many plans.
const keptReports = 20

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{
		Options: o, taken: store.NewBucket[record]("imports"), reports: map[string]protocol.ImportReport{}, counted: map[asked]int{},
		swept: make(chan struct{}),
	}
	o.Tasks.Own(protocol.TaskImport, doer{f})
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodImportSources, f.sources),
			method.Plain(protocol.MethodImportPlan, f.plan),
			method.Plain(protocol.MethodImportStart, f.begin),
			method.Plain(protocol.MethodImportReport, f.report),
		},
		Run: func(ctx context.Context) error {
			f.sweep()
			<-ctx.Done()
			return nil
		},
	}
}

// scratch is where copies of databases lie while they are read.
func (f *feature) scratch() string { return filepath.Join(string(f.Dir), "import") }

// sweep removes what a crash left there: it may hold keys.
func (f *feature) sweep() {
	defer close(f.swept)
	if err := os.RemoveAll(f.scratch()); err != nil {
		f.Log.Warn("copies that an import left could not be removed", "folder", f.scratch(), "err", err)
	}
}

func (f *feature) sources(context.Context, method.None) (protocol.ImportSources, error) {
	out := protocol.ImportSources{Sources: []protocol.ImportSource{}}
	for _, p := range programs() {
		path, _ := f.find(p)
		out.Sources = append(out.Sources, protocol.ImportSource{ID: p.id, Name: p.name, Takes: p.takes, Path: path})
	}
	return out, nil
}

// plan walks through a source and writes nothing.
func (f *feature) plan(ctx context.Context, p protocol.ImportParams) (protocol.ImportReport, error) {
	if err := f.claim(ctx); err != nil {
		return protocol.ImportReport{}, err
	}
	defer f.one.Unlock()
	rep, n, err := f.walk(ctx, p, "", nil)
	if err != nil {
		return rep, told(ctx, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.counted) >= keptReports {
		clear(f.counted)
	}
	f.counted[asked{rep.From, rep.Path}] = n
	return rep, nil
}

// claim takes f.one for a walk, or says that there is another.
func (f *feature) claim(ctx context.Context) error {
	select {
	case <-f.swept:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if f.one.TryLock() {
		return nil
	}
	return protocol.Unavailable(2000, "Another import is under way. `hearth tasks` shows it, and can end it.")
}

// told gives failures to whoever asked, in their own words: they are about that
// person's files.
func told(ctx context.Context, err error) error {
	var pe *protocol.Error
	if ctx.Err() != nil || errors.As(err, &pe) {
		return err
	}
	return protocol.Invalid("%s", protocol.Sentence(err.Error()))
}

func (f *feature) report(_ context.Context, p protocol.ImportReportParams) (protocol.ImportReport, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rep, ok := f.reports[p.TaskID]
	if !ok {
		return rep, protocol.Invalid("There is no report of this import; it has not ended, or Hearth was restarted since. Import again: "+
			"what is here already is not taken twice.").With("code", "NOT_FOUND")
	}
	return rep, nil
}

// keep remembers the report of an import.
func (f *feature) keep(id string, rep protocol.ImportReport) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reports[id] = rep
	if f.order = append(f.order, id); len(f.order) > keptReports {
		delete(f.reports, f.order[0])
		f.order = f.order[1:]
	}
}
