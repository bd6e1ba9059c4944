package openaiserver

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/pairing"
)

// runPrefix begins the run ids of programs.
const runPrefix = "api-"

// ask is one request being answered.
type ask struct {
	h      *Handler
	v      *visit
	req    *Request
	turn   *turn
	place  place
	target Target
	id     string // of the answer: of the run, and which request of it
}

// result is what a request came to.
type result struct {
	text  string
	calls []Call
	stop  model.StopReason
	usage model.Usage
}

// begin finds the run of a request: the one that waits for the results in it,
// or a new one.
func (h *Handler) begin(r *http.Request, v *visit, req *Request) (*ask, error) {
	a := &ask{h: h, v: v, req: req}
	var err error
	if a.target, err = h.Engine.Find(req.Model, firstOf(r, agentHeaders())); err != nil {
		return nil, err
	}
	if name := firstOf(r, modelHeaders()); name != "" { // the assistant stays who it is
		other, err := h.Engine.Find(clip(name, maxModel), a.target.Agent)
		if err != nil {
			return nil, err
		}
		if other.Model == "" {
			return nil, NoModel("The header x-openclaw-model names no model: write provider/model, as GET /v1/models lists them.")
		}
		a.target.Model = other.Model
	}
	past, now := split(req.Messages)
	if a.turn = h.turns.resume(v.client.ID, now, req); a.turn != nil {
		a.place = place{key: a.turn.key, follow: a.turn.follow}
		a.id = a.turn.runID + "." + strconv.Itoa(len(past))
		return a, nil
	}
	if a.place, err = h.place(r, v, a.target, req, past); err != nil {
		return nil, err
	}
	h.heads.forget(a.place.key)
	a.turn = &turn{
		runID: runPrefix + h.NewID(), key: a.place.key, client: v.client,
		options: req.Options, hide: req.NoTools, instructions: req.Instructions, tools: req.Tools, follow: a.place.follow,
		changed: make(chan struct{}, 1),
	}
	a.id = a.turn.runID
	h.turns.add(a.turn)
	// What the program left waiting in this conversation is not waited for.
	for _, t := range h.turns.ofClient(v.client.ID) {
		if t.key == a.place.key {
			h.Engine.Stop(v.ctx, t.key, t.runID)
		}
	}
	text, forModel, pictures := words(past, now)
	if len(pictures) > maxPictures {
		err = Invalid("messages", "There are %d pictures in the new messages, at most %d are allowed.", len(pictures), maxPictures)
	} else {
		err = h.Engine.Begin(v.ctx, Ask{
			RunID: a.turn.runID, Key: a.place.key, Client: v.client, Model: a.target.Model, Text: text, ForModel: forModel, Pictures: pictures,
			Past: seed(past, now), Label: a.place.label, Named: !a.place.follow,
		})
	}
	if err != nil {
		h.turns.remove(a.turn)
		return nil, err
	}
	return a, nil
}

// runOf is the run of an answer's id, in whichever form it was given out.
func runOf(id string) string {
	for _, p := range []string{"resp_", "chatcmpl-"} {
		id = strings.TrimPrefix(id, p)
	}
	id, _, _ = strings.Cut(id, ".")
	return id
}

// sink is where an answer goes while it is made. An error of it means that the
// program has left.
type sink interface {
	say(words string) error
	idle() error // nothing happened for a while
}

// follow passes an answer on until it ends or the program is asked to run its
// tools. A program that leaves stops the run.
func (a *ask) follow(out sink) (result, error) {
	res, err := a.listen(out)
	if err == nil && len(res.calls) > 0 {
		if over := a.h.turns.park(a.turn, a.h.limits.Parked); over != nil {
			a.h.Engine.Stop(context.WithoutCancel(a.v.ctx), over.key, over.runID)
		}
		return res, nil
	}
	if a.v.ctx.Err() != nil || errors.Is(err, errLeft) {
		a.h.Engine.Stop(context.WithoutCancel(a.v.ctx), a.turn.key, a.turn.runID)
	}
	a.h.turns.remove(a.turn)
	if err == nil && a.place.follow {
		said := append(slices.Clone(a.req.Messages), Message{Role: Assistant, Text: res.text})
		a.h.heads.set(headOf(a.v.client.ID, a.target.Agent, said), a.place.key)
	}
	return res, err
}

// errLeft: the program does not take its answer.
var errLeft = errors.New("the program has left")

func (a *ask) listen(out sink) (res result, err error) {
	type ended struct {
		end End
		err error
	}
	over := make(chan ended, 1)
	ctx, stop := context.WithCancel(a.v.ctx)
	defer stop()
	a.h.work.Go(func() {
		end, err := a.h.Engine.Wait(ctx, a.turn.runID)
		over <- ended{end, err}
	})
	var text strings.Builder
	pass := func() (news, error) {
		n := a.turn.take()
		text.WriteString(n.words)
		if n.words == "" {
			return n, nil
		}
		return n, out.say(n.words)
	}
	idle := time.NewTimer(a.h.limits.Quiet)
	defer idle.Stop()
	for {
		select {
		case <-a.turn.changed:
			n, err := pass()
			if err != nil {
				return result{}, errLeft
			}
			if n.parked && len(n.calls) > 0 {
				return result{text: text.String(), calls: n.calls, stop: model.StopTool, usage: n.usage}, nil
			}
			idle.Reset(a.h.limits.Quiet)
		case <-idle.C:
			if out.idle() != nil {
				return result{}, errLeft
			}
			idle.Reset(a.h.limits.Quiet)
		case e := <-over:
			if _, err := pass(); err != nil {
				return result{}, errLeft
			}
			return a.ended(e.end, e.err, text.String())
		case <-a.v.ctx.Done():
			return result{}, a.why()
		}
	}
}

// ended is the end of a run for the program.
func (a *ask) ended(end End, err error, text string) (result, error) {
	if a.v.ctx.Err() != nil {
		return result{}, a.why()
	}
	if err != nil {
		return result{}, &Error{Status: http.StatusServiceUnavailable, Type: "api_error", Code: "stopping",
			Text: "Hearth is stopping, so this was not answered. Send it again in a moment."}
	}
	if end.State != Answered {
		return result{text: text, usage: end.Usage}, ofEnd(end)
	}
	return result{text: text, stop: end.Stop, usage: end.Usage}, nil
}

// why says why a request ended before its answer.
func (a *ask) why() error {
	if cause := context.Cause(a.v.ctx); errors.Is(cause, pairing.ErrClientUnknown) {
		return cause
	}
	return errLeft
}
