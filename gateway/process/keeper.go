package process

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/awake"
)

// Options are what a Keeper needs.
type Options struct {
	// Helper is what ends in Child: its file, then its arguments, the first of
	// them the name that it goes by.
	Helper []string
	Now    func() time.Time
	// Keep is how much of each command's output is kept; 0 = 200 KB.
	Keep int
	// Max is how many may run at once; 0 = 64.
	Max int
	// KeepEnded is how many that ended can still be asked about; 0 = 64.
	KeepEnded int
}

const (
	defaultKeep = 200 << 10
	defaultMax  = 64
	readBuffer  = 32 << 10
)

// Keeper starts processes and has all that run, and the latest that ended.
type Keeper struct {
	o      Options
	start  starter
	begins func(Spec) (ended func())

	mu     sync.Mutex
	all    map[string]*Process
	live   int
	closed bool
	wg     sync.WaitGroup

	pins   sync.Mutex
	pinned *bool // nil: not tried yet
}

// New returns a Keeper; end it with Close.
func New(o Options) *Keeper {
	o.Keep = cmp.Or(o.Keep, defaultKeep)
	o.Max = cmp.Or(o.Max, defaultMax)
	o.KeepEnded = cmp.Or(o.KeepEnded, defaultMax)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Keeper{o: o, start: platform(o.Helper), all: map[string]*Process{}}
}

// Watch has begins told of each command before it starts; what that returns is
// called when everything of the command has ended. Watch is called before the
// first Start.
func (k *Keeper) Watch(begins func(Spec) (ended func())) { k.begins = begins }

// Start runs a command. ctx bounds the start only: what runs goes on until it
// ends, is stopped, or the keeper closes.
func (k *Keeper) Start(ctx context.Context, s Spec) (*Process, error) {
	if err := k.take(); err != nil {
		return nil, err
	}
	ended := func() {}
	if k.begins != nil {
		ended = k.begins(s)
	}
	c, err := k.start(ctx, s)
	if err != nil {
		ended()
		k.give()
		return nil, err
	}
	p := &Process{id: newID(), spec: s, child: c, now: k.o.Now, started: k.o.Now(), out: newOutput(k.o.Keep), done: make(chan struct{}),
		more: make(chan struct{})}
	p.spec.Env, p.spec.Copies = nil, nil // not ours to remember
	k.mu.Lock()
	k.all[p.id] = p
	k.forget()
	closed := k.closed
	k.mu.Unlock()
	if s.Timeout > 0 {
		p.timer = awake.AfterFunc(s.Timeout, func() { p.end(func(e *Exit) { e.TimedOut = true }, false) })
	}
	if closed {
		p.Stop()
	}
	go func() {
		defer k.give()
		defer ended()
		p.run()
	}()
	return p, nil
}

func (k *Keeper) take() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return ErrClosed
	case k.live >= k.o.Max:
		return ErrTooMany
	}
	k.live++
	k.wg.Add(1)
	return nil
}

func (k *Keeper) give() {
	k.mu.Lock()
	k.live--
	k.mu.Unlock()
	k.wg.Done()
}

// forget drops the oldest of those that ended, when there are many.
func (k *Keeper) forget() {
	var ended []*Process
	for _, p := range k.all {
		if p.Ended() {
			ended = append(ended, p)
		}
	}
	if len(ended) <= k.o.KeepEnded {
		return
	}
	slices.SortFunc(ended, func(a, b *Process) int { return a.started.Compare(b.started) })
	for _, p := range ended[:len(ended)-k.o.KeepEnded] {
		delete(k.all, p.id)
	}
}

// Find returns a process of an owner. Others' are not found.
func (k *Keeper) Find(owner, id string) (*Process, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.all[id]
	if !ok || p.spec.Owner != owner {
		return nil, fmt.Errorf("%q: %w", id, ErrNotFound)
	}
	return p, nil
}

// List returns the processes of an owner, "" = all, newest first.
func (k *Keeper) List(owner string) []Info {
	k.mu.Lock()
	var ps []*Process
	for _, p := range k.all {
		if owner == "" || p.spec.Owner == owner {
			ps = append(ps, p)
		}
	}
	k.mu.Unlock()
	out := make([]Info, len(ps))
	for i, p := range ps {
		out[i] = p.Info()
	}
	slices.SortStableFunc(out, func(a, b Info) int { return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Remove forgets one that has ended.
func (k *Keeper) Remove(owner, id string) error {
	p, err := k.Find(owner, id)
	if err != nil {
		return err
	}
	if !p.Ended() {
		return errors.New("it still runs; kill it first")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.all, id)
	return nil
}

// StopOwner ends all processes of an owner.
func (k *Keeper) StopOwner(owner string) {
	for _, i := range k.List(owner) {
		if p, err := k.Find(i.Owner, i.ID); err == nil && i.State == Running {
			p.Stop()
		}
	}
}

// Close ends all processes and waits for that, at the longest until ctx ends.
func (k *Keeper) Close(ctx context.Context) error {
	k.mu.Lock()
	k.closed = true
	var ps []*Process
	for _, p := range k.all {
		ps = append(ps, p)
	}
	k.mu.Unlock()
	for _, p := range ps {
		p.Stop()
	}
	gone := make(chan struct{})
	go func() {
		k.wg.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("end the commands that run: %w", context.Cause(ctx))
	}
}

func newID() string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return "p" + hex.EncodeToString(b[:])
}

// Process is one command, running or ended.
type Process struct {
	id      string
	spec    Spec
	child   child
	now     func() time.Time
	started time.Time
	timer   *awake.Timer
	done    chan struct{}

	mu     sync.Mutex
	out    *output
	seen   int64 // up to where somebody has read
	more   chan struct{}
	reason Exit // why it was ended by us
	exit   Exit
	ended  time.Time
}

func (p *Process) run() {
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, readBuffer)
		for {
			n, err := p.child.Read(b)
			p.got(b[:n])
			if err != nil {
				return
			}
		}
	}()
	exit := p.child.wait()
	<-read
	p.child.close()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Lock()
	exit.TimedOut, exit.Stopped = p.reason.TimedOut, p.reason.Stopped
	p.exit, p.ended = exit, p.now()
	p.mu.Unlock()
	close(p.done)
}

func (p *Process) got(b []byte) {
	if len(b) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.write(b)
	close(p.more)
	p.more = make(chan struct{})
}

// ID names it.
func (p *Process) ID() string { return p.id }

// Done is closed when it and all that it started have ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended reports whether it has.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Info describes it.
func (p *Process) Info() Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := Info{
		ID: p.id, Owner: p.spec.Owner, Title: p.spec.Title, Dir: p.spec.Dir, PID: p.child.pid(), TTY: p.spec.TTY,
		Confined: p.spec.Confine != nil, State: Running, StartedAt: p.started, Bytes: p.out.total,
	}
	if p.Ended() {
		i.State, i.EndedAt, i.Exit = Ended, p.ended, p.exit
	}
	return i
}

// Output is all that is kept of what it printed.
func (p *Process) Output() Output {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.since(0)
}

// Next is what it printed since the last Next.
func (p *Process) Next() Output {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.out.since(p.seen)
	p.seen = p.out.total
	return o
}

// More is closed when it prints something that Next did not return.
func (p *Process) More() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out.total > p.seen {
		c := make(chan struct{})
		close(c)
		return c
	}
	return p.more
}

// Write gives it input.
func (p *Process) Write(b []byte) error {
	if p.Ended() {
		return errors.New("it has ended")
	}
	_, err := p.child.Write(b)
	return err
}

// CloseInput tells it that no more comes.
func (p *Process) CloseInput() error {
	if p.Ended() {
		return nil
	}
	return p.child.closeInput()
}

// Resize changes the size of its terminal.
func (p *Process) Resize(cols, rows int) error { return p.child.resize(cols, rows) }

// Stop begins to end it and all that it started: asked first, killed soon
// after. Done tells when that is over.
func (p *Process) Stop() { p.end(func(e *Exit) { e.Stopped = true }, false) }

// Kill ends it without asking first.
func (p *Process) Kill() { p.end(func(e *Exit) { e.Stopped = true }, true) }

func (p *Process) end(why func(*Exit), now bool) {
	if p.Ended() {
		return
	}
	p.mu.Lock()
	if p.reason == (Exit{}) {
		why(&p.reason)
	}
	p.mu.Unlock()
	p.child.stop(now)
}
