package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// Engine makes virtual machines. It is safe for concurrent use.
type Engine struct {
	opts    Options
	source  []byte        // the module's bytes, packed
	running chan struct{} // one place for each VM that may run
	waiting atomic.Int32  // programs that want one

	loading chan struct{} // held while the machine is loaded
	mu      sync.Mutex
	machine *machine
	vms     map[*VM]struct{}
	closed  bool
}

// machine is what is loaded once.
type machine struct {
	ctx      context.Context // carries nothing; wazero asks for one where there is none to hand on
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	root     roots
	boot     *image
	id       [32]byte // of everything that a snapshot must agree with
	images   *images
	spares   []*body // of ended cells, for the next ones
}

// New makes an engine. It loads nothing.
func New(o Options) *Engine {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Running <= 0 {
		o.Running = max(1, runtime.NumCPU()-1)
	}
	if o.Images <= 0 {
		o.Images = 16
	}
	if len(o.Key) == 0 {
		o.Key = make([]byte, 32)
		_, _ = rand.Read(o.Key) // never fails, by its contract
	}
	return &Engine{
		opts: o, source: packedWasm, running: make(chan struct{}, o.Running), loading: make(chan struct{}, 1),
		vms: map[*VM]struct{}{},
	}
}

// Close stops every VM and gives everything back. Start and Restore fail from
// then on.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	var vms []*VM
	for v := range e.vms {
		vms = append(vms, v)
		v.closing.Store(true)
	}
	m := e.machine
	e.machine = nil
	e.mu.Unlock()
	for _, v := range vms {
		v.Close()
	}
	if m == nil {
		return nil
	}
	var errs []error
	for _, b := range m.spares {
		errs = append(errs, b.drop(ctx))
	}
	return errors.Join(append(errs, m.runtime.Close(ctx))...)
}

// Warm loads the engine ahead of its first cell.
func (e *Engine) Warm(ctx context.Context) error {
	_, err := e.load(ctx)
	return err
}

var errClosed = &Error{Code: RuntimeUnavailable, Message: "the code mode engine is closed"}

// load gives the machine, and makes it if nobody did. A failure is not kept:
// the next cell tries again, and is refused again if nothing changed.
func (e *Engine) load(ctx context.Context) (*machine, error) {
	select {
	case e.loading <- struct{}{}:
		defer func() { <-e.loading }()
	case <-ctx.Done():
		return nil, ended(ctx)
	}
	e.mu.Lock()
	m, closed := e.machine, e.closed
	e.mu.Unlock()
	if closed {
		return nil, errClosed
	}
	if m != nil {
		return m, nil
	}
	began := e.opts.Now()
	m, err := e.build(context.WithoutCancel(ctx))
	if err != nil {
		e.opts.Log.Error("code mode: the engine cannot be used", "err", err)
		return nil, failed(RuntimeUnavailable, "the code mode engine cannot be used: %v", err)
	}
	e.opts.Log.Debug("code mode: engine loaded", "took", e.opts.Now().Sub(began))
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errors.Join(errClosed, m.runtime.Close(ctx))
	}
	e.machine = m
	return m, nil
}

func ended(ctx context.Context) *Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return failed(Timeout, "the time for this run is over")
	}
	return failed(Aborted, "the run was aborted")
}

// build loads, rewrites, compiles, boots and tries the engine.
func (e *Engine) build(ctx context.Context) (m *machine, err error) {
	defer func() { // wazero's compiler panics on a processor it does not know
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("%v", r)
		}
	}()
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return nil, fmt.Errorf("it needs an amd64 or arm64 processor, this is %s", runtime.GOARCH)
	}
	r, err := e.runtime(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close(ctx))
		}
	}()
	wasm, err := e.wasm()
	if err != nil {
		return nil, err
	}
	if err := hostModules(ctx, r); err != nil {
		return nil, err
	}
	compiled, err := r.CompileModule(experimental.WithCompilationWorkers(ctx, min(runtime.NumCPU(), 4)), wasm)
	if err != nil {
		return nil, fmt.Errorf("compiling: %w", err)
	}
	m = &machine{ctx: ctx, runtime: r, compiled: compiled, images: newImages(e.opts.Images)}
	if err := e.bootImage(ctx, m); err != nil {
		return nil, fmt.Errorf("booting: %w", err)
	}
	if err := e.selfTest(ctx, m); err != nil {
		return nil, fmt.Errorf("its self-test: %w", err)
	}
	return m, nil
}

// runtime makes a wazero runtime with a cache of machine code on disk, or
// without one if the directory cannot be used.
func (e *Engine) runtime(ctx context.Context) (wazero.Runtime, error) {
	config := wazero.NewRuntimeConfigCompiler().WithDebugInfoEnabled(false)
	if e.opts.CacheDir != "" {
		if err := privateDir(e.opts.CacheDir); err != nil {
			e.opts.Log.Warn("code mode: starting without a cache", "err", err)
		} else if cache, err := wazero.NewCompilationCacheWithDir(e.opts.CacheDir); err != nil {
			e.opts.Log.Warn("code mode: starting without a cache", "err", err)
		} else {
			config = config.WithCompilationCache(cache)
		}
	}
	return wazero.NewRuntimeWithConfig(ctx, config), nil
}

// privateDir makes dir so that nobody else can put machine code there.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	return os.Chmod(dir, 0o700)
}

func (e *Engine) bootImage(ctx context.Context, m *machine) error {
	v, err := e.instance(ctx, m, nil, Limits{Memory: 16 << 20}.filled())
	if err != nil {
		return err
	}
	defer v.Close()
	ctx, leave := v.enter(ctx)
	defer leave()
	if err := v.bootUp(ctx); err != nil {
		return v.fate(err)
	}
	m.root = v.root
	m.boot = takeImage(v.bytes(), nil)
	of := m.boot.sum()
	m.id = sha256.Sum256(append([]byte(pinPrepared), of[:]...))
	return nil
}
