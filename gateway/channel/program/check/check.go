// Package check tries a program that connects a messaging network: what it says over
// its input and output, and, when it offers a network in its memory, the whole suite
// of package conformance. It owns the rows of the protocol and what people are told;
// it starts nothing itself (channel.Launch does).
package check

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/conformance"
)

// Options of a Run; all but Settings and Secrets are needed.
type Options struct {
	Argv     []string
	Settings map[string]string
	Secrets  map[string]string
	Launch   channel.Launch
	Wait     time.Duration // how long an answer may take
	Now      func() time.Time
	Logger   *slog.Logger
}

// Outcome is what became of a row.
type Outcome string

// Outcomes of rows.
const (
	Passed Outcome = "passed"
	Cannot Outcome = "cannot"
	Failed Outcome = "failed"
)

// Result is one row: what was tried, what happened, and what to do when that is wrong.
type Result struct {
	Row      string  `json:"row"`
	What     string  `json:"what"`
	State    Outcome `json:"state"`
	Happened string  `json:"happened,omitempty"` // or why it cannot be
	Do       string  `json:"do,omitempty"`
}

// Run tries a program, and tells each result when it is there. The error is about the
// trying: a program that fails is no error.
func Run(ctx context.Context, o Options, told func(Result) error) (failed int, err error) {
	tell := func(r Result) error {
		if r.State == Failed {
			failed++
		} else {
			r.Do = ""
		}
		return told(r)
	}
	offers := false
	for _, row := range protocolRows(&offers) {
		r := Result{Row: row.name, What: row.what, Do: row.do}
		r.State, r.Happened = tried(ctx, func(t *trial) { row.run(t, o) })
		if err := tell(r); err != nil {
			return failed, err
		}
		if ctx.Err() != nil {
			return failed, ctx.Err()
		}
		if row.first && r.State == Failed {
			return failed, nil // nothing else can be tried
		}
	}
	if !offers {
		return failed, tell(Result{Row: "TheSuite", What: "what the contract says, tried on a network in the program's memory", State: Cannot,
			Happened: "the program offers no test network; docs/channels/write-your-own.md says how to"})
	}
	for _, row := range conformance.Rows() {
		r := Result{Row: row.Name, What: row.What, Do: row.Do}
		r.State, r.Happened = tried(ctx, func(t *trial) { row.Try(t, setup(t, o)) })
		if err := tell(r); err != nil {
			return failed, err
		}
		if ctx.Err() != nil {
			return failed, ctx.Err()
		}
	}
	return failed, nil
}

// tried runs a row in a goroutine of its own, which Fatalf and Skipf end.
func tried(ctx context.Context, row func(*trial)) (Outcome, string) {
	ctx, cancel := context.WithCancel(ctx)
	t := &trial{ctx: ctx}
	inItsOwn(func() { row(t) }, t)
	cancel()
	for len(t.cleanups) > 0 {
		last := t.cleanups[len(t.cleanups)-1]
		t.cleanups = t.cleanups[:len(t.cleanups)-1]
		inItsOwn(last, t)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.failed:
		return Failed, strings.Join(t.words, "; ")
	case t.skipped != "":
		return Cannot, strings.TrimPrefix(t.skipped, "cannot: ")
	}
	return Passed, ""
}

func inItsOwn(do func(), t *trial) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("the check itself failed: %v", p)
			}
		}()
		do()
	}()
	<-done
}

// trial is a row that is tried. It implements conformance.T.
type trial struct {
	ctx      context.Context
	cleanups []func()

	mu      sync.Mutex
	failed  bool
	skipped string
	words   []string
}

func (*trial) Helper()                    {}
func (t *trial) Context() context.Context { return t.ctx }
func (t *trial) Cleanup(do func())        { t.cleanups = append(t.cleanups, do) }
func (*trial) Logf(string, ...any)        {}

// mostWords of a row are shown.
const mostWords = 6

func (t *trial) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
	if len(t.words) < mostWords {
		t.words = append(t.words, fmt.Sprintf(format, args...))
	}
}

func (t *trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

func (t *trial) Skipf(format string, args ...any) {
	t.mu.Lock()
	t.skipped = fmt.Sprintf(format, args...)
	t.mu.Unlock()
	runtime.Goexit()
}

// errSilent is an answer that did not come.
var errSilent = errors.New("it did not answer")
