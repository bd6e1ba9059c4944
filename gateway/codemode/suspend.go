package codemode

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
)

// suspend puts a program away until wait goes on with it.
func (c *cell) suspend(ctx context.Context, reason string) Result {
	if !c.runs.enter() {
		return c.fail(&engine.Error{Code: engine.SnapshotLimitExceeded, Message: "too many programs wait already; call wait for those, or let " +
			"this one do less at a time"})
	}
	row := c.row()
	data, err := c.vm.Snapshot(ctx, row.scope())
	if err == nil {
		err = c.runs.keep.put(ctx, row, data)
	}
	if err != nil {
		c.runs.leave()
		return c.fail(err)
	}
	c.mu.Lock()
	vm := c.vm
	c.vm, c.state, c.expires = nil, stateWaiting, row.Expires
	late := c.done // answers that came meanwhile: the row does not have them
	c.expiry = time.AfterFunc(c.set.TTL, func() { c.runs.expire(c) })
	c.mu.Unlock()
	vm.Close()
	for _, s := range late {
		c.persist(s)
	}
	c.run.mu.Lock()
	c.run.cells[c.id] = c
	t := &c.run.tele.Snapshots
	t.Saved++
	t.Bytes = max(t.Bytes, len(data))
	c.run.mu.Unlock()
	c.runs.debug(stateWaiting, "program", c.id, "run", c.run.id, "reason", reason, "bytes", len(data), "pending", len(row.Pending))
	return c.tell(c.waits(reason))
}

// waits is the result of a program that waits.
func (c *cell) waits(reason string) Result {
	res := Result{Status: Waiting, RunID: c.id, Reason: reason, Output: c.said}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.order() {
		if n.method == engine.MethodCall {
			res.Pending = append(res.Pending, PendingCall{ID: n.callID, Tool: n.tool, State: n.shown})
		}
	}
	return res
}

// order is what is pending, the oldest first; mu is held.
func (c *cell) order() (out []*nested) {
	for _, n := range c.pending {
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b *nested) int { return cmp.Compare(a.id, b.id) })
	return out
}

func (c *cell) row() kept {
	now := c.runs.o.Now()
	row := kept{ID: c.id, Run: c.run.id, SessionKey: c.run.sessionKey, SessionID: c.run.sessionID, Created: now.UnixMilli(),
		Expires: now.Add(c.set.TTL).UnixMilli()}
	c.mu.Lock()
	defer c.mu.Unlock()
	row.Outside = slices.Clone(c.outside)
	for _, n := range c.order() {
		row.Pending = append(row.Pending, keptCall{ID: n.id, Method: n.method, CallID: n.callID, Tool: n.tool})
	}
	return row
}

// persist keeps an answer that came while the program waits.
func (c *cell) persist(s engine.Settled) {
	if err := c.runs.keep.answer(c.ctx, c.run.id, c.id, keptAnswer{ID: s.ID, Value: s.Value, Err: s.Err}); err != nil {
		c.runs.o.Log.Warn("an answer for a waiting program could not be kept", "program", c.id, "err", err)
	}
}

// resume goes on with a program that waits.
func (c *cell) resume(ctx context.Context) Result {
	c.mu.Lock()
	over := c.runs.o.Now().UnixMilli() >= c.expires
	c.mu.Unlock()
	if over {
		c.runs.expire(c)
		return c.gone(stateExpired)
	}
	answers, err := c.ready(ctx)
	if err != nil || answers == nil {
		if err != nil {
			c.runs.gone(c, stateAborted)
			return c.fail(err)
		}
		return c.tell(c.waits(ReasonTools))
	}
	row, data, err := c.runs.keep.take(ctx, c.run.id, c.id)
	if was := c.runs.out(c); !was || err != nil {
		if was && !errors.Is(err, errNotKept) {
			return c.fail(err)
		}
		c.end(stateExpired, errExpired)
		return c.gone(stateExpired)
	}
	vm, err := c.runs.o.Engine.Restore(ctx, data, c.set.limits(), row.scope())
	if err != nil {
		return c.fail(err)
	}
	c.mu.Lock()
	c.vm, c.state = vm, stateRunning
	c.mu.Unlock()
	c.run.mu.Lock()
	c.run.tele.Snapshots.Restored++
	c.run.mu.Unlock()
	c.runs.debug("restored", "program", c.id, "run", c.run.id, "bytes", len(data), "answers", len(answers))
	began := time.Now()
	st, err := vm.Settle(ctx, answers)
	c.left -= time.Since(began)
	return c.drive(ctx, st, err)
}

// ready waits until there is something to go on with: an answer, or the yield
// that the program waits for.
func (c *cell) ready(ctx context.Context) ([]engine.Settled, error) {
	c.mu.Lock()
	for id, n := range c.pending {
		if n.method == engine.MethodYield {
			c.done = append(c.done, engine.Settled{ID: id})
		}
	}
	c.mu.Unlock()
	return c.await(ctx)
}

// gone is the result of a program that cannot go on any more.
func (c *cell) gone(state string) Result { return c.tell(unknown(state)) }

// enter takes one of the places for programs that wait.
func (r *Runs) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live >= maxLive {
		return false
	}
	r.live++
	return true
}

func (r *Runs) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live--
}

// out takes a program off the list of those that wait; false when it is not on
// it any more.
func (r *Runs) out(c *cell) bool {
	c.run.mu.Lock()
	was := c.run.cells[c.id] == c
	delete(c.run.cells, c.id)
	c.run.mu.Unlock()
	if was {
		r.leave()
	}
	c.mu.Lock()
	if c.expiry != nil {
		c.expiry.Stop()
	}
	c.mu.Unlock()
	return was
}

// expire ends a program that waited for too long.
func (r *Runs) expire(c *cell) {
	if !r.out(c) {
		return // somebody goes on with it
	}
	c.run.mu.Lock()
	c.run.tele.Snapshots.Expired++
	c.run.tele.failed(engine.SnapshotExpired)
	c.run.mu.Unlock()
	r.delete(c)
	c.end(stateExpired, errExpired)
}

// gone ends a program whose run is over.
func (r *Runs) gone(c *cell, state string) {
	c.run.mu.Lock()
	delete(c.run.cells, c.id)
	c.run.tele.Snapshots.Aborted++
	c.run.mu.Unlock()
	r.leave()
	r.delete(c)
	c.end(state, errOver)
}

func (r *Runs) delete(c *cell) {
	if err := r.keep.drop(c.ctx, c.run.id, c.id); err != nil {
		r.o.Log.Warn("a program that waited could not be deleted; it is at the next start", "program", c.id, "err", err)
	}
}

// revive makes a program of the store wait again, after a start of Hearth. Calls
// that were under way are answered as lost: nobody saw their end, and they are
// not made again.
func (r *Runs) revive(ctx context.Context, u *run, p program, id string) (*cell, error) {
	row, err := r.keep.look(u.id, id)
	if err != nil {
		return nil, err
	}
	if row.SessionKey != u.sessionKey || row.SessionID != u.sessionID {
		return nil, errNotKept
	}
	if !r.enter() {
		return nil, errors.New("too many programs wait already")
	}
	c := r.cell(ctx, u, p)
	c.id, c.expires, c.outside, c.state = row.ID, row.Expires, row.Outside, stateWaiting
	answered := map[int64]bool{}
	for _, a := range row.Done {
		answered[a.ID] = true
		c.done = append(c.done, engine.Settled{ID: a.ID, Value: a.Value, Err: a.Err})
	}
	for _, k := range row.Pending {
		c.pending[k.ID] = &nested{id: k.ID, method: k.Method, callID: k.CallID, tool: k.Tool}
		if k.Method == engine.MethodCall && !answered[k.ID] {
			c.done = append(c.done, engine.Settled{ID: k.ID, Err: &engine.GuestError{Message: interrupted(k.Tool)}})
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.cells[c.id] = c
	return c, nil
}

func interrupted(tool string) string {
	return tool + " was interrupted: Hearth was started again while it ran. It may or may not have taken effect; it was not run again."
}
