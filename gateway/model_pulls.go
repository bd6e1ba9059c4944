package gateway

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
	"github.com/hearth-assistant/hearth/gateway/provider/ollama"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// pullEvery is how often clients hear of a download.
const pullEvery = 200 * time.Millisecond

// maxParts bounds what is remembered of one download.
const maxParts = 1000

// modelPulls are the downloads that are under way, by model.
type modelPulls struct {
	mu  sync.Mutex
	all map[string]context.CancelCauseFunc
}

var (
	errPullStopped = errors.New("the download was stopped; what came is kept, start it again to go on")
	errPulling     = errors.New("this model is being downloaded already")
)

func (p *modelPulls) begin(ctx context.Context, model string) (context.Context, func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[string]context.CancelCauseFunc{}
	}
	if p.all[model] != nil {
		return nil, nil, errPulling
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p.all[model] = cancel
	return ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, model)
		cancel(nil)
	}, nil
}

func (p *modelPulls) cancel(model string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	stop := p.all[model]
	if stop != nil {
		stop(errPullStopped)
	}
	return stop != nil
}

// pull downloads a model with Ollama and tells everybody how far it is. It ends
// with ctx.
func (g *Gateway) pull(ctx context.Context, p protocol.ModelsPullParams, tell func(protocol.ModelsPullProgress)) (protocol.ModelsPullProgress, error) {
	now := protocol.ModelsPullProgress{Model: p.Model, State: "loading"}
	base, key, ok := g.models.Ollama(p.Provider)
	if !ok {
		g.models.Detect(ctx)
		if base, key, ok = g.models.Ollama(p.Provider); !ok {
			return now, protocol.Invalid("Ollama, which would download it, is not running on this computer. Install it from https://ollama.com, start it with `ollama serve`, and try again.")
		}
	}
	ctx, end, err := g.pulls.begin(ctx, p.Model)
	if err != nil {
		return now, protocol.Invalid("%s", protocol.Sentence(err.Error()))
	}
	defer end()
	srv := ollama.Server{BaseURL: base, Key: key, HTTP: &http.Client{Transport: egress.Operator()}}
	sum, told := parts{}, time.Time{}
	for step, err := range srv.Pull(ctx, p.Model) {
		if err != nil {
			return g.pullFailed(now, errors.Join(context.Cause(ctx), err), ctx)
		}
		sum.add(step)
		now.Status = step.Status
		now.Total, now.Completed = sum.total()
		whole := step.Total > 0 && step.Completed == step.Total // of a part
		if step.Done() {
			now.State = "done"
		} else if !whole && g.opts.Now().Sub(told) < pullEvery {
			continue
		}
		told = g.opts.Now()
		g.tellPull(now)
		tell(now)
	}
	g.detectAgain()
	return now, nil
}

func (g *Gateway) tellPull(p protocol.ModelsPullProgress) {
	g.server.Broadcast(server.Broadcast{Event: protocol.EventModelsPull, Payload: p})
}

func (g *Gateway) pullFailed(now protocol.ModelsPullProgress, err error, ctx context.Context) (protocol.ModelsPullProgress, error) {
	var said *ollama.Error
	now.State = "failed"
	switch {
	case errors.Is(context.Cause(ctx), errPullStopped):
		now.Error = protocol.Sentence(errPullStopped.Error())
	case errors.Is(err, ollama.ErrBrokeOff):
		now.Error = "The download broke off. Start it again: it goes on where it was."
	case errors.As(err, &said):
		now.Error = "Ollama could not download " + strconv.Quote(now.Model) + ": " + strings.TrimSuffix(said.Detail, ".") + ". Look up its name at https://ollama.com/library, and check the free space of the disk."
	default:
		now.Error = "The download of " + strconv.Quote(now.Model) + " failed: Ollama cannot be reached. Start it with `ollama serve` and try again."
	}
	g.tellPull(now)
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
