// Package supervise keeps a gateway available to a program that needs one: it
// attaches to the one that runs, or starts one of its own and starts it again
// when it ends. A gateway that it started ends with it, also when it is killed:
// the gateway's standard input is a lifeline that the system closes.
//
// It knows nothing of the gateway's protocol; being connected is the caller's.
package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/internal/sleep"
)

// ErrNotRunning is what Attach returns when no gateway is there.
var ErrNotRunning = errors.New("no gateway is running")

const (
	minBackoff = 250 * time.Millisecond
	maxBackoff = 30 * time.Second
	// A gateway that ran this long is not part of a crash loop.
	steady = 10 * time.Second
	// How long a gateway of ours may take to end before it is killed.
	patience = 10 * time.Second
	// How long the gateway that was just started may take to be there.
	startTime = 20 * time.Second
	minWait   = 20 * time.Millisecond
)

// Options: Attach and Command are needed.
type Options struct {
	// Attach connects to the gateway that is there and stays until that is
	// lost. ErrNotRunning: there is none.
	Attach func(context.Context) error
	// Command is how a gateway is started. Its standard input becomes the
	// lifeline.
	Command func() *exec.Cmd
	// Farewell is the last word to a gateway of ours when ctx has ended; nil: none.
	Farewell func() string
	// OnDown is told why the gateway ended or did not start, and when the next
	// attempt comes.
	OnDown func(why error, next time.Duration)
	// Wait pauses; tests replace it.
	Wait func(context.Context, time.Duration) error
}

// Run keeps a gateway available until ctx ends. It returns when the gateway
// that it started, if any, has ended.
func Run(ctx context.Context, o Options) {
	if o.Wait == nil {
		o.Wait = sleep.For
	}
	if o.OnDown == nil {
		o.OnDown = func(error, time.Duration) {}
	}
	backoff := minBackoff
	for ctx.Err() == nil {
		began := time.Now()
		err := o.Attach(ctx)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, ErrNotRunning) {
			began = time.Now()
			err = o.own(ctx)
			if ctx.Err() != nil {
				return
			}
		}
		if time.Since(began) > steady {
			backoff = minBackoff
		}
		o.OnDown(err, backoff)
		if o.Wait(ctx, backoff) != nil {
			return
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

// own runs a gateway of ours until it ends, attached to it.
func (o Options) own(ctx context.Context) error {
	cmd := o.Command()
	last := &tail{}
	cmd.Stderr = last
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("prepare the gateway: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the gateway: %w", err)
	}
	here, cancel := context.WithCancel(ctx)
	defer cancel()
	var ended error
	done := make(chan struct{})
	go func() {
		ended = cmd.Wait()
		cancel() // what is attached need not find out by itself
		close(done)
	}()
	o.attach(here)
	if ctx.Err() != nil && o.Farewell != nil {
		_, _ = io.WriteString(lifeline, o.Farewell()+"\n") // it may have ended
	}
	_ = lifeline.Close()
	select {
	case <-done:
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		<-done
	}
	if said := last.String(); said != "" {
		return fmt.Errorf("the gateway ended: %s", said)
	}
	if ended != nil {
		return fmt.Errorf("the gateway ended: %w", ended)
	}
	return errors.New("the gateway ended")
}

// attach stays attached to the gateway that was just started.
func (o Options) attach(ctx context.Context) {
	wait := minWait
	for began := time.Now(); ctx.Err() == nil; {
		tried := time.Now()
		err := o.Attach(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrNotRunning):
			if time.Since(began) > startTime {
				return
			}
		case time.Since(tried) > time.Second:
			began, wait = time.Now(), minWait // it was there
		default:
			o.OnDown(err, wait) // it is there and does not let us in
		}
		if o.Wait(ctx, wait) != nil {
			return
		}
		wait = min(2*wait, 2*time.Second)
	}
}

// tail keeps the last words of a program, for saying why it ended.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailBytes = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if len(t.b) > tailBytes {
		t.b = append(t.b[:0], t.b[len(t.b)-tailBytes:]...)
	}
	return len(p), nil
}

// String is the last lines, without empty ones.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.FieldsFunc(strings.TrimSpace(string(t.b)), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) > 3 {
		lines = lines[len(lines)-3:]
	}
	return strings.Join(lines, " ")
}
