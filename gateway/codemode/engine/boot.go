package engine

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
)

//go:embed prelude.js
var prelude string

// roots are the addresses by which the host finds its way in a VM. They are
// part of the boot image, so they hold in every VM and every snapshot of it.
type roots struct {
	rt, ctx                      uint32
	opts, argv                   uint32 // prepared: evaluating "0", and room for arguments
	start, settle, catalogue, gc uint64
}

// Fields of quickjs-ng 0.10.1 on wasm32. Each is checked before it is written.
const (
	rtStackSize    = 120
	rtStackTop     = 124
	rtStackLimit   = 128
	rtModuleLoader = 192
	ctxRuntime     = 16
	ctxModules     = 276
	loaderEntry    = 7          // table entry of QJS_ModuleLoader
	modulesLoaded  = 4          // std, os, bjson and the module's own script
	stackSentinel  = 0x00c0ffe0 // asked for as stack size, to find the field again
)

// bootUp makes the one VM that every other is a copy of.
func (v *VM) bootUp(ctx context.Context) error {
	v.booting = true
	h, err := v.call(ctx, "New_QJS", 0, stackSentinel, 0, 0)
	if err != nil {
		return fmt.Errorf("making the runtime: %w", err)
	}
	v.root.rt, v.root.ctx = v.u32(uint32(h)), v.u32(uint32(h)+4)
	if err := v.harden(); err != nil {
		return err
	}
	if v.root.opts, err = v.evalOptions(ctx, "<drain>", "0"); err != nil {
		return err
	}
	argv, err := v.call(ctx, "malloc", 64)
	if err != nil {
		return err
	}
	v.root.argv = uint32(argv)
	if err := v.runPrelude(ctx); err != nil {
		return fmt.Errorf("the prelude: %w", err)
	}
	if err := v.drain(ctx); err != nil {
		return err
	}
	v.booting = false
	return nil
}

func (v *VM) runPrelude(ctx context.Context) error {
	proxy, err := v.call(ctx, "QJS_CreateFunctionProxy", uint64(v.root.ctx), 1, 0, 0)
	if err != nil {
		return err
	}
	fn, err := v.eval(ctx, "<prelude>", prelude)
	if err != nil {
		return err
	}
	v.mem.WriteUint64Le(v.root.argv, proxy)
	res, err := v.call(ctx, "QJS_Call", uint64(v.root.ctx), fn, jsUndefined, 1, uint64(v.root.argv))
	if err != nil {
		return err
	}
	if res == jsException {
		return v.dropException(ctx)
	}
	for _, val := range []uint64{fn, proxy} {
		if err := v.freeValue(ctx, val); err != nil {
			return err
		}
	}
	if v.root.gc == 0 {
		return errors.New("it did not reach its end")
	}
	return v.bootErr
}

// keepRoots takes what the prelude hands over, and checks with its two probes
// that we read texts where texts are.
func (v *VM) keepRoots(args []uint64) error {
	if len(args) != 6 {
		return errors.New("it handed over something else than four functions and two texts")
	}
	for i, to := range []*uint64{&v.root.start, &v.root.settle, &v.root.catalogue, &v.root.gc} {
		p, n := uint32(args[i]), v.u32(uint32(args[i]))
		if tagOf(args[i]) != tagObject || n == 0 || n > 16 {
			return errors.New("its functions are not where functions are")
		}
		v.mem.WriteUint32Le(p, n+1) // ours from now on
		*to = args[i]
	}
	for i, want := range []string{"probe \u00e9", "probe \u20ac"} {
		if got, ok := v.text(args[4+i], 16); !ok || string(got) != want {
			return fmt.Errorf("its text %q reads as %q", want, got)
		}
	}
	return nil
}

// harden writes three words into QuickJS' own structures: a stack limit (the
// engine has none on WASI), no loaded modules, no module loader.
func (v *VM) harden() error {
	rt, c := v.root.rt, v.root.ctx
	switch {
	case v.u32(rt+rtStackSize) != stackSentinel, v.u32(rt+rtStackLimit) != 0, v.u32(rt+rtStackTop) == 0:
		return errors.New("the stack's fields are not where they were")
	case v.u32(c+ctxRuntime) != rt:
		return errors.New("the context's fields are not where they were")
	case v.u32(rt+rtModuleLoader) != loaderEntry:
		return errors.New("the module loader is not where it was")
	}
	list, n := c+ctxModules, 0
	for p := v.u32(list + 4); p != list; p = v.u32(p + 4) {
		if n++; n > modulesLoaded || v.u32(v.u32(p+4)) != p {
			return errors.New("the list of modules is not where it was")
		}
	}
	if n != modulesLoaded {
		return fmt.Errorf("%d modules are loaded, not %d", n, modulesLoaded)
	}
	v.mem.WriteUint32Le(rt+rtStackLimit, stackLow+stackMargin)
	v.mem.WriteUint32Le(list, list)
	v.mem.WriteUint32Le(list+4, list)
	v.mem.WriteUint32Le(rt+rtModuleLoader, 0)
	return nil
}
