package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// body is what a VM consists of outside our own books. After a cell that ended
// well it is kept for the next one: a few of them, at most one for each place
// to run.
type body struct {
	mod   api.Module
	mem   api.Memory
	alloc *memory
	fns   map[string]api.Function
	began uint32 // its memory's size when its cell began
}

// instance makes a VM whose memory is im, or the module's own if im is nil.
func (e *Engine) instance(ctx context.Context, m *machine, im *image, l Limits) (*VM, error) {
	v := &VM{
		engine: e, machine: m, root: m.root, limits: l,
		pending: map[int64]string{}, told: map[Code]bool{},
	}
	size := uint64(stackHigh)
	if im != nil {
		size = uint64(im.size)
	}
	limit := size + uint64(l.Memory)
	var err error
	v.body = e.spare(m, im, limit)
	isNew := v.body == nil
	if isNew {
		if v.body, err = newBody(ctx, m, limit); err != nil {
			return nil, err
		}
	}
	if im != nil {
		if err := v.fill(im, isNew); err != nil {
			return nil, errors.Join(err, v.body.drop(m.ctx))
		}
	}
	v.began = v.mem.Size()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errors.Join(errClosed, v.body.drop(m.ctx))
	}
	e.vms[v] = struct{}{}
	return v, nil
}

func newBody(ctx context.Context, m *machine, limit uint64) (*body, error) {
	alloc, err := newMemory(limit)
	if err != nil {
		return nil, failed(RuntimeUnavailable, "no memory for another program: %v", err)
	}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	mod, err := m.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, alloc), m.compiled, config)
	if err != nil {
		return nil, errors.Join(failed(RuntimeUnavailable, "no place for another program: %v", err), alloc.release())
	}
	return &body{mod: mod, mem: mod.Memory(), alloc: alloc, fns: map[string]api.Function{}}, nil
}

// spare takes a body that an earlier cell left, if it can become im.
func (e *Engine) spare(m *machine, im *image, limit uint64) *body {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, b := range m.spares {
		if im != nil && b.mem.Size() <= im.size && b.alloc.fits(limit) {
			last := len(m.spares) - 1
			m.spares[i], m.spares[last] = m.spares[last], nil
			m.spares = m.spares[:last]
			b.alloc.limit = limit
			return b
		}
	}
	return nil
}

// giveBack keeps the VM's body, or ends it: one that was stopped, trapped or
// grew is not used again.
func (e *Engine) giveBack(v *VM) {
	e.mu.Lock()
	delete(e.vms, v)
	sp := v.mod.ExportedGlobal(stackPointer)
	keep := v.dead == nil && v.stop == nil && !v.alloc.denied.Load() && v.mem.Size() == v.began &&
		!e.closed && len(v.machine.spares) < cap(e.running) && sp.Get() == stackHigh
	if keep {
		wipe(v.bytes()[stackLow:stackHigh])
		v.machine.spares = append(v.machine.spares, v.body)
	}
	e.mu.Unlock()
	if keep {
		return
	}
	// The instance is gone either way.
	if err := v.body.drop(v.machine.ctx); err != nil {
		e.opts.Log.Error("code mode: ending a machine", "err", err)
	}
}

func (b *body) drop(ctx context.Context) error {
	return errors.Join(b.mod.Close(ctx), b.alloc.release())
}

// fill makes the memory equal to im, whatever it held.
func (b *body) fill(im *image, isNew bool) error {
	if n := b.mem.Size(); im.size > n {
		if _, ok := b.mem.Grow((im.size - n) / pageSize); !ok {
			return fmt.Errorf("no memory for an image of %d bytes", im.size)
		}
	}
	im.write(b.bytes(), isNew)
	return nil
}

// bytes is the linear memory itself.
func (b *body) bytes() []byte {
	mem, _ := b.mem.Read(0, b.mem.Size())
	return mem
}
