package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Snapshot puts a waiting VM into bytes that Restore takes back under the same
// scope, in this process or, with the same Options.Key, in another. The VM
// stays as it is.
func (v *VM) Snapshot(ctx context.Context, scope string) ([]byte, error) {
	at, err := v.engine.take(ctx)
	if err != nil {
		return nil, err
	}
	defer at.leave()
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.closed:
		return nil, failed(Aborted, "the run was aborted")
	case v.dead != nil, !v.started:
		return nil, failed(InternalError, "there is nothing to put away: the program has ended")
	case len(v.pending) == 0:
		return nil, failed(InternalError, "there is nothing to put away: the program waits for nothing")
	}
	st := hostState{LastID: v.lastID, Pending: v.pending, Told: slices.Sorted(maps.Keys(v.told)), Outcome: v.outcome, Places: v.places,
		Lines: v.lines, Wide: v.wide}
	seal := v.engine.sealer(v.machine)
	b, err := seal.encode(v.bytes(), v.machine.boot, st, scope, v.limits.Snapshot)
	if errors.Is(err, errTooLarge) {
		// What nobody holds may be what is too much. Collecting takes the longer
		// the more is alive, so it is not done every time.
		if err = v.collect(ctx); err != nil {
			return nil, v.fate(err)
		}
		b, err = seal.encode(v.bytes(), v.machine.boot, st, scope, v.limits.Snapshot)
	}
	if errors.Is(err, errTooLarge) {
		return nil, failed(SnapshotLimitExceeded, "the waiting program needs a snapshot of more than %d bytes", v.limits.Snapshot)
	}
	return b, err
}

// collect runs the guest's garbage collector, and clears what is free.
func (v *VM) collect(ctx context.Context) error {
	ctx, leave := v.enter(ctx)
	defer leave()
	res, err := v.call(ctx, "QJS_Call", uint64(v.root.ctx), v.root.gc, jsUndefined, 0, uint64(v.root.argv))
	if err != nil {
		return err
	}
	if res == jsException {
		return v.dropException(ctx)
	}
	if err := v.drain(ctx); err != nil { // finalizers may have left jobs
		return err
	}
	clearFree(v.bytes())
	return nil
}

// Restore brings back what Snapshot put away. The VM waits for the same calls.
func (e *Engine) Restore(ctx context.Context, data []byte, l Limits, scope string) (*VM, error) {
	m, err := e.load(ctx)
	if err != nil {
		return nil, err
	}
	at, err := e.take(ctx)
	if err != nil {
		return nil, err
	}
	defer at.leave()
	l = l.filled()
	d, err := e.sealer(m).decode(data, scope, uint64(m.boot.size)+uint64(l.Memory))
	if err != nil {
		return nil, failed(SnapshotRestoreFailed, "the waiting program cannot be brought back: %v", err)
	}
	v, err := e.instance(ctx, m, m.boot, l)
	if err != nil {
		return nil, err
	}
	if err := v.unpack(d); err != nil {
		v.Close()
		return nil, failed(SnapshotRestoreFailed, "the waiting program cannot be brought back: %v", err)
	}
	v.started = true
	v.lastID, v.pending, v.outcome = d.state.LastID, d.state.Pending, d.state.Outcome
	v.places, v.lines, v.wide = d.state.Places, d.state.Lines, d.state.Wide
	for _, c := range d.state.Told {
		v.told[c] = true
	}
	return v, nil
}

func (v *VM) unpack(d *decoded) error {
	if n := v.mem.Size(); d.size > n {
		if _, ok := v.mem.Grow((d.size - n) / pageSize); !ok {
			return fmt.Errorf("it needs %d bytes of memory", d.size)
		}
	} else if d.size < n {
		return errSnapshot
	}
	mem := v.bytes()
	if grown := mem[v.began:]; len(grown) > 0 {
		prefault(grown)
	}
	return d.unpack(mem)
}

func (e *Engine) sealer(m *machine) sealer { return sealer{key: e.opts.Key, id: m.id} }
