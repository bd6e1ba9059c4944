package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Limits of what one gateway may ask at a time, and get back.
const (
	maxCalls    = 16
	maxResult   = 12 << 20
	defaultTime = 30 * time.Second
	// answerTime is kept of a call's time for the way back.
	answerTime = 250 * time.Millisecond
)

// command does one thing for the gateway. What it returns is told as JSON.
type command func(ctx context.Context, cn *conn, params json.RawMessage) (any, error)

// callID is the key of a call's id in its context.
type callID struct{}

// fault is an error in the protocol's form: a code that programs know, and words.
type fault struct{ code, words string }

func (f *fault) Error() string { return f.code + ": " + f.words }

func invalid(format string, a ...any) error {
	return &fault{"INVALID_REQUEST", fmt.Sprintf(format, a...)}
}

func unavailable(format string, a ...any) error {
	return &fault{"UNAVAILABLE", fmt.Sprintf(format, a...)}
}

// table is everything that this machine can be asked; Settings decide which of
// it is offered and answered.
func (h *Host) table() map[string]command {
	return map[string]command{
		"system.which":             h.which,
		"system.run.prepare":       h.prepare,
		"system.run":               h.run,
		"system.execApprovals.get": h.approvalsGet,
		"system.execApprovals.set": h.approvalsSet,
		"system.notify":            h.notify,
		"device.info":              h.deviceInfo,
		"device.status":            h.deviceStatus,
		"screen.snapshot":          h.screen,
		"camera.list":              h.cameraList,
		"camera.snap":              h.cameraSnap,
		"location.get":             h.location,
		"canvas.present":           h.canvasPresent,
		"canvas.navigate":          h.canvasNavigate,
		"canvas.hide":              h.canvasHide,
	}
}

// event is called for every event, one at a time.
func (cn *conn) event(e protocol.Event) {
	switch e.Event {
	case protocol.EventNodeInvokeRequest:
		var r protocol.NodeInvokeRequest
		if json.Unmarshal(e.Payload, &r) == nil && r.ID != "" && r.NodeID == cn.h.id {
			cn.call(r)
		}
	case protocol.EventNodeInvokeCancel:
		var r protocol.NodeInvokeCancel
		if json.Unmarshal(e.Payload, &r) == nil && r.NodeID == cn.h.id {
			cn.mu.Lock()
			if stop := cn.calls[r.InvokeID]; stop != nil {
				stop()
			}
			cn.mu.Unlock()
		}
	}
}

// call begins a call, unless there are too many or it is known.
func (cn *conn) call(r protocol.NodeInvokeRequest) {
	limit := defaultTime
	if r.TimeoutMs > 0 {
		limit = time.Duration(min(r.TimeoutMs, int64(24*time.Hour/time.Millisecond))) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.WithValue(cn.life, callID{}, r.ID), max(limit-answerTime, limit/2))
	cn.mu.Lock()
	known, full := cn.calls[r.ID] != nil, len(cn.calls) >= maxCalls
	if !known && !full {
		cn.calls[r.ID] = cancel
	}
	cn.mu.Unlock()
	if known {
		cancel()
		return
	}
	cn.wg.Go(func() {
		defer cancel()
		if full {
			cn.answer(r, nil, unavailable("this machine does %d things at once already; try again when one of them is done", maxCalls))
			return
		}
		v, err := cn.do(ctx, r)
		cn.mu.Lock()
		delete(cn.calls, r.ID)
		cn.mu.Unlock()
		cn.answer(r, v, err)
	})
}

// do carries a call out. A panic ends that call alone.
func (cn *conn) do(ctx context.Context, r protocol.NodeInvokeRequest) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			cn.h.o.Logger.Error("a call of the gateway broke", "command", r.Command, "panic", fmt.Sprint(p))
			v, err = nil, &fault{"INTERNAL", "something broke while this machine did it; its log says what"}
		}
	}()
	s, err := cn.h.o.Folder.Settings()
	if err != nil {
		return nil, err
	}
	do := cn.h.commands[r.Command]
	if do == nil {
		return nil, &fault{"INVALID_REQUEST", "this machine does not know this command"}
	}
	if what := commandOf(r.Command); !s.allows(what) {
		return nil, &fault{"FORBIDDEN", "its owner has not allowed this (" + what + ") on this machine; `hearth node allow " + what + "` " +
			"there does"}
	}
	params := json.RawMessage("{}")
	if r.ParamsJSON != nil && *r.ParamsJSON != "" && *r.ParamsJSON != "null" {
		params = json.RawMessage(*r.ParamsJSON)
	}
	return do(ctx, cn, params)
}

// answer tells the gateway what came of a call. When the connection is gone
// nobody waits for it.
func (cn *conn) answer(r protocol.NodeInvokeRequest, v any, err error) {
	select {
	case <-cn.ready:
	case <-cn.life.Done():
		return
	}
	p := protocol.NodeResultParams{ID: r.ID, NodeID: r.NodeID, OK: err == nil}
	if err == nil {
		b, merr := json.Marshal(v)
		if merr == nil && len(b) > maxResult {
			merr = unavailable("the result is %d MB, more than fits into an answer; ask for less", len(b)>>20)
		}
		text := string(b)
		p.PayloadJSON, err = &text, merr
	}
	if err != nil {
		var f *fault
		if !errors.As(err, &f) {
			f = &fault{"UNAVAILABLE", err.Error()}
		}
		p.OK, p.PayloadJSON, p.Error = false, nil, &protocol.NodeError{Code: f.code, Message: f.words}
	}
	if err := cn.c.Call(cn.life, protocol.MethodNodeInvokeResult, p, nil); err != nil && cn.life.Err() == nil {
		cn.h.o.Logger.Warn("an answer did not reach the gateway", "command", r.Command, "err", err)
	}
}

// Progress goes out at most this often and in pieces of this size; what is more is
// in the answer.
const (
	progressEvery = 250 * time.Millisecond
	progressChunk = 4 << 10
)

// progress tells the gateway, now and then, what a command prints. What it returns
// is called with each part, by one goroutine.
func (cn *conn) progress(ctx context.Context) func([]byte) {
	id, _ := ctx.Value(callID{}).(string)
	if cn.c == nil || !slices.Contains(cn.c.Hello().Features.Methods, protocol.MethodNodeInvokeProgress) {
		return func([]byte) {}
	}
	var last time.Time
	seq := int64(0)
	return func(b []byte) {
		if now := cn.h.o.Now(); now.Sub(last) >= progressEvery {
			last = now
			p := protocol.NodeProgressParams{InvokeID: id, NodeID: cn.h.id, Seq: seq,
				Chunk: strings.ToValidUTF8(string(b[:min(len(b), progressChunk)]), "\uFFFD")}
			seq++
			_ = cn.c.Call(ctx, protocol.MethodNodeInvokeProgress, p, nil) // the answer has it too
		}
	}
}

// news tells the gateway something that it did not ask for.
func (cn *conn) news(ctx context.Context, event string, payload any) {
	b, err := json.Marshal(payload)
	if err != nil {
		return
	}
	text := string(b)
	if err := cn.c.Call(ctx, protocol.MethodNodeEvent, protocol.NodeEventParams{Event: event, PayloadJSON: &text}, nil); err != nil {
		cn.h.o.Logger.Debug("an event did not reach the gateway", "event", event, "err", err)
	}
}

// read reads what a call brings.
func read(params json.RawMessage, to any) error {
	if err := json.Unmarshal(params, to); err != nil {
		return invalid("its parameters are not readable: %v", err)
	}
	return nil
}
