package node

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/awake"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

const (
	// DefaultTimeout is how long a node may take when nobody says; MaxTimeout is
	// the most.
	DefaultTimeout = 30 * time.Second
	MaxTimeout     = 35 * time.Minute

	maxParams   = 1 << 20
	maxResult   = 16 << 20
	maxOpen     = 32 // calls of one node at a time
	maxWords    = 2 << 10
	maxChunk    = 16 << 10
	maxProgress = 256 << 10

	keyLife  = 5 * time.Minute
	maxKeys  = 1000
	maxKept  = 64 << 10 // a longer result is not kept for a repeated key
	maxKey   = 256
	minRound = time.Millisecond
)

// Call is a wish to a node.
type Call struct {
	NodeID  string
	Command string
	Params  json.RawMessage // nil: none
	Timeout time.Duration   // 0: DefaultTimeout
	// Key makes a repeated wish the same wish.
	Key string
	// RunID is what the node calls the run in its news, "" when it makes none.
	RunID string
	// Progress gets what the command prints while it runs. It must not block.
	Progress func(chunk string)
}

// Result is what a node answered: JSON.
type Result struct {
	Payload json.RawMessage
	Text    bool // it came as a text that holds JSON
}

// Errors that callers tell apart; texts are for people.
var (
	ErrNotConnected = errors.New("node not connected")
	ErrTimeout      = errors.New("node invoke timed out")
	ErrGone         = errors.New("node disconnected")
	ErrBusy         = errors.New("this node has too many calls open; wait for some of them")
	ErrKeyUsed      = errors.New("this idempotencyKey belongs to another call; use a new key for a new call")
	ErrKeyOld       = errors.New("this call was made already and its answer was too long to be kept; use a new key to make it again")
)

// NotAllowedError says why a command may not be called.
type NotAllowedError struct{ Command, Why string }

func (e *NotAllowedError) Error() string { return "node command not allowed: " + e.Why }

// FailedError is a node's own error. Its text comes from outside.
type FailedError struct{ Code, Message string }

func (e *FailedError) Error() string { return e.Code + ": " + e.Message }

// BadAnswerError: what the node sent is no answer.
type BadAnswerError struct{ Why string }

func (e *BadAnswerError) Error() string { return "the node's answer cannot be used: " + e.Why }

// call is an open wish.
type call struct {
	Call
	id     string
	params string
	at     time.Time
	sess   *session

	seq, shown int64 // of progress

	done   chan struct{} // closed with what follows set
	result Result
	err    error
}

// Invoke calls a command of a node and waits for its answer. It returns at once
// when the node is not there, goes away, or loses its authority.
func (r *Registry) Invoke(ctx context.Context, c Call) (Result, error) {
	made, mine, err := r.begin(c)
	if err != nil {
		return Result{}, err
	}
	if !mine {
		select {
		case <-made.done:
			return made.result, made.err
		case <-ctx.Done():
			return Result{}, context.Cause(ctx)
		}
	}
	s := made.sess
	var params *string
	if made.params != "" {
		params = &made.params
	}
	timeout := made.Timeout
	sent := s.conn.Send(protocol.EventNodeInvokeRequest, protocol.NodeInvokeRequest{
		ID: made.id, NodeID: s.id, Command: c.Command, ParamsJSON: params, TimeoutMs: timeout.Milliseconds(), IdempotencyKey: c.Key,
	})
	if !sent {
		r.finish(made, Result{}, ErrNotConnected)
		return Result{}, ErrNotConnected
	}
	late := make(chan struct{})
	timer := awake.AfterFunc(timeout, func() { close(late) })
	defer timer.Stop()
	gone := fmt.Errorf("%w (%s)", ErrGone, c.Command)
	select {
	case <-made.done:
	case <-late:
		r.cancel(made, ErrTimeout)
	case <-s.gone:
		r.cancel(made, gone)
	case <-s.conn.Gone():
		r.cancel(made, gone)
	case <-s.conn.Revoked():
		r.cancel(made, gone)
	case <-ctx.Done():
		r.cancel(made, context.Cause(ctx))
	}
	<-made.done
	return made.result, made.err
}

// begin checks a wish and opens it, or finds the one with the same key.
func (r *Registry) begin(c Call) (_ *call, mine bool, err error) {
	var packed bytes.Buffer
	if len(c.Params) > 0 {
		if err := json.Compact(&packed, c.Params); err != nil {
			return nil, false, fmt.Errorf("the parameters are no JSON: %w", err)
		}
	}
	switch {
	case packed.Len() > maxParams:
		return nil, false, fmt.Errorf("the parameters are longer than %d bytes", maxParams)
	case len(c.Key) > maxKey:
		return nil, false, fmt.Errorf("the idempotencyKey is longer than %d bytes", maxKey)
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	c.Timeout = min(max(c.Timeout, minRound), MaxTimeout)
	rules := r.Policy()
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.asked[c.Key]; c.Key != "" && old != nil && r.Now().Sub(old.at) < keyLife {
		if old.NodeID != c.NodeID || old.Command != c.Command || old.params != packed.String() {
			return nil, false, ErrKeyUsed
		}
		return old, false, nil
	}
	row := r.rows[c.NodeID]
	s := r.live[c.NodeID]
	if row == nil || s == nil || !s.alive() {
		return nil, false, ErrNotConnected
	}
	if why := cmp.Or(unoffered(*row, s, c.Command, rules), refusal(*row, c.Command, rules)); why != "" {
		return nil, false, &NotAllowedError{c.Command, why}
	}
	if len(missing([]string{c.Command}, s.declared.Commands)) > 0 {
		return nil, false, &NotAllowedError{c.Command, fmt.Sprintf("%q is not offered by this node", c.Command)}
	}
	if len(s.calls) >= maxOpen {
		return nil, false, ErrBusy
	}
	made := &call{Call: c, id: r.NewID(), params: packed.String(), at: r.Now(), sess: s, done: make(chan struct{})}
	s.calls[made.id] = made
	r.remember(made)
	return made, true, nil
}

// remember keeps a wish under its key; mu is held.
func (r *Registry) remember(c *call) {
	if c.Key == "" {
		return
	}
	now := r.Now()
	for len(r.askedAt) > 0 && (len(r.askedAt) >= maxKeys || now.Sub(r.askedAt[0].at) >= keyLife) {
		first := r.askedAt[0]
		r.askedAt[0] = nil
		r.askedAt = r.askedAt[1:]
		if r.asked[first.Key] == first {
			delete(r.asked, first.Key)
		}
	}
	r.asked[c.Key], r.askedAt = c, append(r.askedAt, c)
}

// finish ends a wish once; false means that it was over.
func (r *Registry) finish(c *call, res Result, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.sess.calls[c.id] != c {
		return false
	}
	delete(c.sess.calls, c.id)
	c.result, c.err = res, err
	if len(res.Payload) > maxKept && r.asked[c.Key] == c {
		// Whoever waits has it; who comes later is told.
		later := &call{Call: c.Call, id: c.id, params: c.params, at: c.at, sess: c.sess, done: make(chan struct{}), err: ErrKeyOld}
		close(later.done)
		r.asked[c.Key] = later
		for i := range r.askedAt {
			if r.askedAt[i] == c {
				r.askedAt[i] = later
			}
		}
	}
	close(c.done)
	return true
}

// cancel ends a wish and tells the node that nobody waits any more.
func (r *Registry) cancel(c *call, why error) {
	if r.finish(c, Result{}, why) {
		c.sess.conn.Send(protocol.EventNodeInvokeCancel, protocol.NodeInvokeCancel{InvokeID: c.id, NodeID: c.sess.id})
	}
}

// of finds the session of a connection; nil: it is an older one, or none.
func (r *Registry) of(id string, conn Conn) *session {
	s := r.live[id]
	if s == nil || s.conn != conn || s.over {
		return nil
	}
	return s
}

// Answer takes a node's answer. False: nobody waits for it from this node on
// this connection, and it is dropped.
func (r *Registry) Answer(id string, conn Conn, p protocol.NodeResultParams) bool {
	size := len(p.Payload)
	if p.PayloadJSON != nil {
		size += len(*p.PayloadJSON)
	}
	r.mu.Lock()
	s := r.of(id, conn)
	var c *call
	if s != nil {
		c = s.calls[p.ID]
	}
	r.mu.Unlock()
	if s == nil {
		return false
	}
	if !r.spend(s, size) {
		return false
	}
	if c == nil {
		r.alarm(s, "answered a call that is not open on its connection")
		return false
	}
	res, err := read(p, size)
	if err != nil && p.OK {
		r.alarm(s, err.Error())
	}
	var failed *FailedError
	if errors.As(err, &failed) && failed.Code == BackgroundUnavailable {
		r.sleepOn(c)
	}
	return r.finish(c, res, err)
}

// read turns an answer into a result, or says why it is none.
func read(p protocol.NodeResultParams, size int) (Result, error) {
	if !p.OK {
		e := &FailedError{Code: "NODE_ERROR", Message: "the node did not say why"}
		if p.Error != nil && p.Error.Message != "" {
			e.Message = cut(p.Error.Message, maxWords)
		}
		if p.Error != nil && p.Error.Code != "" {
			e.Code = cut(p.Error.Code, 128)
		}
		return Result{}, e
	}
	if size > maxResult {
		return Result{}, &BadAnswerError{fmt.Sprintf("it has %d bytes, the most is %d", size, maxResult)}
	}
	if p.PayloadJSON != nil {
		text := strings.TrimSpace(*p.PayloadJSON)
		if text == "" {
			return Result{Payload: json.RawMessage("null"), Text: true}, nil
		}
		if !json.Valid([]byte(text)) {
			return Result{}, &BadAnswerError{"payloadJSON is not JSON"}
		}
		return Result{Payload: json.RawMessage(text), Text: true}, nil
	}
	if len(p.Payload) == 0 {
		return Result{Payload: json.RawMessage("null")}, nil
	}
	return Result{Payload: p.Payload}, nil
}

func cut(s string, most int) string {
	s = strings.ToValidUTF8(s, "�")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " …"
}

// Progress takes a part of what a command prints.
func (r *Registry) Progress(id string, conn Conn, p protocol.NodeProgressParams) bool {
	r.mu.Lock()
	s := r.of(id, conn)
	var c *call
	if s != nil {
		c = s.calls[p.InvokeID]
	}
	show := c != nil && len(p.Chunk) <= maxChunk && p.Seq >= c.seq && c.shown+int64(len(p.Chunk)) <= maxProgress
	if show {
		c.seq, c.shown = p.Seq+1, c.shown+int64(len(p.Chunk))
	}
	r.mu.Unlock()
	if s == nil || !r.spend(s, len(p.Chunk)) || c == nil {
		return false
	}
	if show && c.Call.Progress != nil {
		c.Call.Progress(strings.ToValidUTF8(p.Chunk, "�"))
	}
	return show
}

// spend takes from a node's budget; a node above it is cut off.
func (r *Registry) spend(s *session, size int) bool {
	now := r.Now()
	if s.events.AllowN(now, 1) && s.bytes.AllowN(now, min(size, byteBurst)) {
		return true
	}
	r.alarm(s, "sent more than a node may; its connection was closed")
	r.mu.Lock()
	r.endSession(s)
	r.mu.Unlock()
	s.conn.Close("too much was sent")
	return false
}

// alarm tells of what a sound node does not do, a few times a minute.
func (r *Registry) alarm(s *session, what string) {
	if !s.alarms.AllowN(r.Now(), 1) {
		return
	}
	r.mu.Lock()
	row := *s.row
	r.mu.Unlock()
	r.Changed(Change{Kind: Alarm, Row: row, Connected: true, Detail: what})
}
