package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// errException says that the guest threw; the exception waits in its context.
var errException = errors.New("the guest threw")

// JSValue on wasm32: the tag above, the number or the address below.
const (
	tagString    = -7
	tagObject    = -1
	tagInt       = 0
	jsUndefined  = uint64(3) << 32
	jsException  = uint64(6) << 32
	evalNoResult = 0
)

func tagOf(v uint64) int32 { return int32(v >> 32) }

func (v *VM) fn(name string) api.Function {
	f := v.fns[name]
	if f == nil {
		f = v.mod.ExportedFunction(name)
		v.fns[name] = f
	}
	return f
}

// call runs one function of the guest. No host function ever calls back in:
// what unwinds through two worlds cannot be unwound safely.
func (v *VM) call(ctx context.Context, name string, args ...uint64) (uint64, error) {
	if v.dead != nil {
		return 0, v.dead
	}
	var st [6]uint64
	copy(st[:], args)
	if err := v.fn(name).CallWithStack(ctx, st[:]); err != nil {
		v.dead = err
		return 0, err
	}
	return st[0], nil
}

// cstr copies s into the guest; s must hold no NUL.
func (v *VM) cstr(ctx context.Context, s string) (uint32, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return 0, errors.New("text for the guest holds a NUL")
	}
	p, err := v.call(ctx, "malloc", uint64(len(s)+1))
	if err != nil {
		return 0, err
	}
	at := uint32(p)
	if at == 0 {
		return 0, errOutOfMemory
	}
	if !v.mem.WriteString(at, s) || !v.mem.WriteByte(at+uint32(len(s)), 0) {
		return 0, errors.New("the guest's malloc gave an address outside its memory")
	}
	return at, nil
}

var errOutOfMemory = errors.New("out of memory")

func (v *VM) free(ctx context.Context, p uint32) error {
	_, err := v.call(ctx, "free", uint64(p))
	return err
}

func (v *VM) freeValue(ctx context.Context, val uint64) error {
	_, err := v.call(ctx, "QJS_FreeValue", uint64(v.root.ctx), val)
	return err
}

// invoke calls one of our own functions in the guest with a text, and lets go
// of what it returns.
func (v *VM) invoke(ctx context.Context, fn uint64, text string) error {
	p, err := v.cstr(ctx, text)
	if err != nil {
		return err
	}
	arg, err := v.call(ctx, "QJS_NewString", uint64(v.root.ctx), uint64(p))
	if err != nil {
		return err
	}
	if err := v.free(ctx, p); err != nil {
		return err
	}
	if arg == jsException {
		return errOutOfMemory
	}
	if !v.mem.WriteUint64Le(v.root.argv, arg) {
		return errors.New("the engine's own memory is gone")
	}
	res, err := v.call(ctx, "QJS_Call", uint64(v.root.ctx), fn, jsUndefined, 1, uint64(v.root.argv))
	if err != nil {
		return err
	}
	if err := v.freeValue(ctx, arg); err != nil {
		return err
	}
	if res == jsException {
		return v.dropException(ctx)
	}
	return v.freeValue(ctx, res)
}

func (v *VM) dropException(ctx context.Context) error {
	ex, err := v.call(ctx, "JS_GetException", uint64(v.root.ctx))
	if err != nil {
		return err
	}
	if err := v.freeValue(ctx, ex); err != nil {
		return err
	}
	return errException
}

// drain runs the guest's job queue until it is empty: evaluating "0" does. A
// job that throws stops one turn, not the queue.
func (v *VM) drain(ctx context.Context) error {
	for {
		res, err := v.call(ctx, "QJS_Eval", uint64(v.root.ctx), uint64(v.root.opts))
		if err != nil {
			return err
		}
		if res != jsException {
			return nil
		}
		if err := v.dropException(ctx); !errors.Is(err, errException) {
			return err
		}
	}
}

// eval runs global code and returns its value, for the prelude only.
func (v *VM) eval(ctx context.Context, file, code string) (uint64, error) {
	opts, err := v.evalOptions(ctx, file, code)
	if err != nil {
		return 0, err
	}
	res, err := v.call(ctx, "QJS_Eval", uint64(v.root.ctx), uint64(opts))
	if err == nil && res == jsException {
		err = v.dropException(ctx)
	}
	return res, err
}

func (v *VM) evalOptions(ctx context.Context, file, code string) (uint32, error) {
	c, err := v.cstr(ctx, code)
	if err != nil {
		return 0, err
	}
	f, err := v.cstr(ctx, file)
	if err != nil {
		return 0, err
	}
	o, err := v.call(ctx, "QJS_CreateEvalOption", uint64(c), 0, 0, uint64(f), 0)
	return uint32(o), err
}

func (v *VM) u32(p uint32) uint32 {
	x, _ := v.mem.ReadUint32Le(p)
	return x
}
