package engine

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// The numbers of WASI's errors.
const (
	wasiBadf     = 8
	wasiFault    = 21
	wasiNosys    = 52
	wasiNotcap   = 76
	exitGuest    = 1 // the guest called proc_exit: an assertion of its C code
	frozenMillis = 1e12
)

type vmKey struct{}

func vmOf(ctx context.Context) *VM {
	v, _ := ctx.Value(vmKey{}).(*VM)
	return v
}

// hostModules are the whole world of the guest: a clock, our bridge, and
// interfaces that say no.
func hostModules(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder("wasi_snapshot_preview1")
	add := func(name, params string, f api.GoModuleFunc) {
		results := "i"
		if name == "proc_exit" {
			results = ""
		}
		b.NewFunctionBuilder().WithGoModuleFunction(f, types(params), types(results)).Export(name)
	}
	add("environ_get", "ii", no(0))
	add("environ_sizes_get", "ii", nothing)
	add("args_sizes_get", "ii", nothing)
	add("clock_time_get", "ili", clock)
	add("proc_exit", "i", func(context.Context, api.Module, []uint64) { panic(sys.NewExitError(exitGuest)) })
	for name, params := range map[string]string{
		"fd_close": "i", "fd_fdstat_get": "ii", "fd_fdstat_set_flags": "ii", "fd_prestat_get": "ii",
		"fd_prestat_dir_name": "iii", "fd_read": "iiii", "fd_readdir": "iiili", "fd_seek": "ilii", "fd_write": "iiii",
	} {
		add(name, params, no(wasiBadf))
	}
	for name, params := range map[string]string{
		"path_create_directory": "iii", "path_filestat_get": "iiiii", "path_filestat_set_times": "iiiilli",
		"path_open": "iiiiillii", "path_remove_directory": "iii", "path_rename": "iiiiii", "path_unlink_file": "iii",
	} {
		add(name, params, no(wasiNotcap))
	}
	add("poll_oneoff", "iiii", no(wasiNosys))
	if _, err := b.Instantiate(ctx); err != nil {
		return err
	}
	return ourModule(ctx, r)
}

// The part of the world that is ours.
const (
	hostModule = "env"
	hostBridge = "jsFunctionProxy"
	hostTick   = "tick"
)

func ourModule(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder(hostModule)
	add := func(name, params, results string, f api.GoModuleFunc) {
		b.NewFunctionBuilder().WithGoModuleFunction(f, types(params), types(results)).Export(name)
	}
	add(hostBridge, "ilii", "l", func(ctx context.Context, _ api.Module, s []uint64) {
		s[0] = vmOf(ctx).hostCall(uint32(s[2]), uint32(s[3]))
	})
	add(hostTick, "ii", "i", func(ctx context.Context, _ api.Module, s []uint64) {
		vmOf(ctx).tick(ctx)
		s[0] = 0
	})
	_, err := b.Instantiate(ctx)
	return err
}

func no(errno uint64) api.GoModuleFunc {
	return func(_ context.Context, _ api.Module, s []uint64) { s[0] = errno }
}

// nothing answers "zero of them, zero bytes".
func nothing(_ context.Context, m api.Module, s []uint64) {
	ok := m.Memory().WriteUint32Le(uint32(s[0]), 0) && m.Memory().WriteUint32Le(uint32(s[1]), 0)
	s[0] = 0
	if !ok {
		s[0] = wasiFault
	}
}

// clock has a resolution of a millisecond, and stands still while an image is
// made: the same engine must give the same image in every process.
func clock(ctx context.Context, m api.Module, s []uint64) {
	v := vmOf(ctx)
	ms := int64(frozenMillis)
	if !v.booting {
		ms = v.engine.opts.Now().UnixMilli()
	}
	if !m.Memory().WriteUint64Le(uint32(s[2]), uint64(ms)*1e6) {
		s[0] = wasiFault
		return
	}
	s[0] = 0
}

func types(s string) []api.ValueType {
	out := make([]api.ValueType, len(s))
	for i, c := range s {
		out[i] = api.ValueTypeI32
		if c == 'l' {
			out[i] = api.ValueTypeI64
		}
	}
	return out
}
