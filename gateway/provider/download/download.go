// Package download fetches models onto this computer, with Ollama, one at a time
// each. It tells how far a download is; it does not own which models are offered
// (package setup) nor who is told.
package download

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/egress"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/ollama"
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
	Now      func() time.Time
}

// Downloads are those that are under way. Its methods may be called from several
// goroutines.
type Downloads struct {
	o Options

	mu  sync.Mutex
	all map[string]context.CancelCauseFunc // by model
}

// New returns downloads, none.
func New(o Options) *Downloads { return &Downloads{o: o, all: map[string]context.CancelCauseFunc{}} }

func (d *Downloads) begin(ctx context.Context, model string) (context.Context, func(), error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all[model] != nil {
		return nil, nil, errRunning
	}
	ctx, cancel := context.WithCancelCause(ctx)
	d.all[model] = cancel
	return ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.all, model)
		cancel(nil)
	}, nil
}

// Cancel stops the download of a model; false says that there is none.
func (d *Downloads) Cancel(model string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	stop := d.all[model]
	if stop != nil {
		stop(errStopped)
	}
	return stop != nil
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
	ctx, end, err := d.begin(ctx, p.Model)
	if err != nil {
		return now, protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	defer end()
	srv := ollama.Server{BaseURL: base, Key: key, HTTP: &http.Client{Transport: egress.Operator()}}
	sum, told := parts{}, time.Time{}
	for step, err := range srv.Pull(ctx, p.Model) {
		if err != nil {
			return d.failed(now, errors.Join(context.Cause(ctx), err), ctx)
		}
		sum.add(step)
		now.Status = step.Status
		now.Total, now.Completed = sum.total()
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
	case errors.Is(context.Cause(ctx), errStopped):
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
