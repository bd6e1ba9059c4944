// Package download fetches models onto this computer, with Ollama, one at a time
// each. It tells how far a download is; it does not own which models are offered
// (package setup) nor who is told.
package download

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/background"
	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/ollama"
	"github.com/hearth-assistant/hearth/gateway/task"
)

// every is how often a download is told.
const every = 200 * time.Millisecond

// maxParts bounds what is remembered of one download.
const maxParts = 1000

// Errors that people see.
var (
	errStopped = errors.New("the download was stopped; what came is kept, start it again to go on")
	errRunning = errors.New("this model is being downloaded already")
)

// Options are the parts that Downloads need; all of them.
type Options struct {
	Models   *provider.Registry
	Detector *provider.Detector                // is told of a model that came
	Tell     func(protocol.ModelsPullProgress) // everybody who watches
	Tasks    *task.Book                        // each is one
	Work     *background.Group                 // for those that are begun again
	Now      func() time.Time
}

// Downloads are those that are under way. Its methods may be called from several
// goroutines.
type Downloads struct {
	o Options

	mu  sync.Mutex
	all map[string]bool // models
}

// New returns downloads, none.
func New(o Options) *Downloads {
	d := &Downloads{o: o, all: map[string]bool{}}
	o.Tasks.Own(protocol.TaskDownload, again{d})
	return d
}

func (d *Downloads) begin(model string) (end func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all[model] {
		return nil, errRunning
	}
	d.all[model] = true
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.all, model)
	}, nil
}

func taskID(model string) string { return protocol.TaskDownload + ":" + model }

// Cancel stops the download of a model; false says that there is none.
func (d *Downloads) Cancel(ctx context.Context, model string) bool {
	return d.o.Tasks.Cancel(ctx, taskID(model)) == nil
}

// Pull downloads a model and tells everybody, and tell, how far it is. It ends
// with ctx. Its errors are in the wire's form.
func (d *Downloads) Pull(ctx context.Context, p protocol.ModelsPullParams,
	tell func(protocol.ModelsPullProgress)) (protocol.ModelsPullProgress, error) {
	now := protocol.ModelsPullProgress{Model: p.Model, State: "loading"}
	base, key, ok := d.o.Models.Ollama(p.Provider)
	if !ok {
		d.o.Models.Detect(ctx)
		if base, key, ok = d.o.Models.Ollama(p.Provider); !ok {
			return now, protocol.Invalid("Ollama, which would download it, is not running on this computer. Install it from https://ollama.com, " +
				"start it with `ollama serve`, and try again.")
		}
	}
	end, err := d.begin(p.Model)
	if err != nil {
		return now, protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	defer end()
	t := task.Task{Again: true}
	t.ID, t.Kind, t.Runtime, t.Title = taskID(p.Model), protocol.TaskDownload, "download", p.Model
	if t.Ask, err = json.Marshal(p); err != nil {
		return now, err
	}
	err = d.o.Tasks.Do(ctx, t, func(ctx context.Context) (string, error) {
		now, err = d.pull(ctx, p, base, key, tell)
		return "", err
	})
	return now, err
}

// pull downloads from an Ollama.
func (d *Downloads) pull(ctx context.Context, p protocol.ModelsPullParams, base, key string,
	tell func(protocol.ModelsPullProgress)) (protocol.ModelsPullProgress, error) {
	now := protocol.ModelsPullProgress{Model: p.Model, State: "loading"}
	srv := ollama.Server{BaseURL: base, Key: key, HTTP: &http.Client{Transport: egress.Operator()}}
	sum, told := parts{}, time.Time{}
	for step, err := range srv.Pull(ctx, p.Model) {
		if err != nil {
			return d.failed(now, errors.Join(context.Cause(ctx), err), ctx)
		}
		sum.add(step)
		now.Status = step.Status
		now.Total, now.Completed = sum.total()
		d.o.Tasks.Progress(taskID(p.Model), now.Completed, now.Total, now.Status)
		whole := step.Total > 0 && step.Completed == step.Total // of a part
		if step.Done() {
			now.State = "done"
		} else if !whole && d.o.Now().Sub(told) < every {
			continue
		}
		told = d.o.Now()
		d.o.Tell(now)
		tell(now)
	}
	d.o.Detector.Again()
	return now, nil
}

func (d *Downloads) failed(now protocol.ModelsPullProgress, err error, ctx context.Context) (protocol.ModelsPullProgress, error) {
	var said *ollama.Error
	now.State = "failed"
	switch {
	case errors.Is(context.Cause(ctx), task.ErrCancelled):
		now.Error = protocol.Sentence(errStopped.Error())
	case errors.Is(err, ollama.ErrBrokeOff):
		now.Error = "The download broke off. Start it again: it goes on where it was."
	case errors.As(err, &said):
		now.Error = "Ollama could not download " + strconv.Quote(now.Model) + ": " + strings.TrimSuffix(said.Detail, ".") + ". Look up its " +
			"name at https://ollama.com/library, and check the free space of the disk."
	default:
		now.Error = "The download of " + strconv.Quote(now.Model) + " failed: Ollama cannot be reached. Start it with `ollama serve` and try " +
			"again."
	}
	d.o.Tell(now)
	return now, protocol.Unavailable(0, "%s", now.Error)
}

// parts adds up the parts of a download.
type parts map[string]ollama.Progress

func (s parts) add(p ollama.Progress) {
	if p.Digest != "" && p.Total > 0 && (len(s) < maxParts || s[p.Digest].Total > 0) {
		s[p.Digest] = p
	}
}

func (s parts) total() (total, done int64) {
	for _, p := range s {
		total, done = total+p.Total, done+p.Completed
	}
	return total, done
}

// again begins downloads again that somebody sees among the tasks: a task.Owner.
type again struct{ d *Downloads }

// Now implements task.Owner: nobody goes on with a download by itself.
func (a again) Now(t task.Task) (task.Task, bool) { return t, false }

// Cancel implements task.Owner: what is under way is cancelled by the book.
func (a again) Cancel(context.Context, task.Task) error { return task.ErrNoCancel }

// Retry implements task.Owner.
func (a again) Retry(_ context.Context, t task.Task) (string, error) {
	var p protocol.ModelsPullParams
	if err := json.Unmarshal(t.Ask, &p); err != nil {
		return "", fmt.Errorf("read what was to be downloaded: %w", err)
	}
	a.d.o.Work.Go(func(ctx context.Context) {
		// What comes of it is told as a task, and to everybody who watches.
		_, _ = a.d.Pull(ctx, p, func(protocol.ModelsPullProgress) {})
	})
	return t.ID, nil
}
