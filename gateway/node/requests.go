package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/node/policy"
)

// What a caller may have to tell apart.
var (
	ErrUnknown   = errors.New("no node has this id; `hearth nodes` lists them")
	ErrNoRequest = errors.New("no request of a node has this id, or it was decided already; `hearth nodes` lists those that wait")
)

// maxName is the longest name that people can give.
const maxName = 64

// Requests are those that wait, oldest first.
func (r *Registry) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Request, 0, len(r.requests))
	for _, id := range slices.Sorted(maps.Keys(r.requests)) {
		out = append(out, *r.requests[id])
	}
	slices.SortStableFunc(out, func(a, b Request) int { return a.At.Compare(b.At) })
	return out
}

// Request finds one by its id.
func (r *Registry) Request(id string) (Request, Row, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.requests {
		if q.ID == id && r.rows[q.NodeID] != nil {
			return *q, *r.rows[q.NodeID], nil
		}
	}
	return Request{}, Row{}, ErrNoRequest
}

// Hosts reports whether a request is for a machine's programs or files.
func (q Request) Hosts() bool { return slices.ContainsFunc(q.Declared.Commands, policy.Hosts) }

// Decide ends a request. What is approved is what was shown: exactly the surface
// of the request.
func (r *Registry) Decide(ctx context.Context, requestID string, approve bool, by string) (Row, error) {
	q, _, err := r.Request(requestID)
	if err != nil {
		return Row{}, err
	}
	r.mu.Lock()
	row := r.rows[q.NodeID]
	if now := r.requests[q.NodeID]; row == nil || now == nil || now.ID != requestID {
		r.mu.Unlock()
		return Row{}, ErrNoRequest
	}
	next := *row
	c := Change{Kind: Approved, Request: q, By: by}
	if approve {
		next.Approved, next.ApprovedAtMs, next.Kind, next.Rejected = q.Declared, r.Now().UnixMilli(), row.said(), nil
	} else {
		c.Kind, next.Rejected = Rejected, &q.Declared
	}
	r.mu.Unlock()
	if err := r.Store.Save(ctx, next); err != nil {
		return Row{}, fmt.Errorf("save the decision about node %s: %w", q.NodeID, err)
	}
	r.mu.Lock()
	if r.rows[q.NodeID] != row {
		r.mu.Unlock()
		return Row{}, ErrNoRequest // removed meanwhile
	}
	row.Approved, row.ApprovedAtMs, row.Kind, row.Rejected = next.Approved, next.ApprovedAtMs, next.Kind, next.Rejected
	if now := r.requests[q.NodeID]; now != nil && now.ID == requestID {
		delete(r.requests, q.NodeID)
	}
	c.Row = *row
	if s := r.live[q.NodeID]; s != nil && s.alive() {
		c.Conn, c.Connected = s.conn, true
	}
	r.mu.Unlock()
	r.tell([]Change{c})
	return c.Row, nil
}

// Rename gives a node a name for people; "" takes it back.
func (r *Registry) Rename(ctx context.Context, id, name, by string) (Row, error) {
	name = strings.TrimSpace(name)
	if len(name) > maxName || strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return Row{}, fmt.Errorf("a node's name is one line of at most %d bytes", maxName)
	}
	return r.change(ctx, id, by, Renamed, func(row *Row) { row.Name = name })
}

// change saves a changed row, then shows it.
func (r *Registry) change(ctx context.Context, id, by string, kind Kind, do func(*Row)) (Row, error) {
	r.mu.Lock()
	row := r.rows[id]
	if row == nil {
		r.mu.Unlock()
		return Row{}, ErrUnknown
	}
	next := *row
	do(&next)
	r.mu.Unlock()
	if err := r.Store.Save(ctx, next); err != nil {
		return Row{}, fmt.Errorf("save node %s: %w", id, err)
	}
	r.mu.Lock()
	do(row)
	kept, on := *row, r.live[id] != nil
	r.mu.Unlock()
	r.tell([]Change{{Kind: kind, Row: kept, Connected: on, By: by}})
	return kept, nil
}

// Remove forgets a node and ends its connection. Whether it may come back is for
// pairing to say.
func (r *Registry) Remove(ctx context.Context, id, by string) error {
	r.mu.Lock()
	row, s := r.rows[id], r.live[id]
	if row == nil {
		r.mu.Unlock()
		return ErrUnknown
	}
	delete(r.rows, id)
	delete(r.requests, id)
	delete(r.live, id)
	delete(r.sleeping, id)
	if s != nil {
		r.endSession(s)
	}
	kept := *row
	r.mu.Unlock()
	if s != nil {
		s.conn.Close("node removed")
	}
	r.tell([]Change{{Kind: Removed, Row: kept, By: by}})
	if err := r.Store.Forget(ctx, id); err != nil {
		return fmt.Errorf("forget node %s: %w", id, err)
	}
	return nil
}
