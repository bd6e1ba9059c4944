package gateway

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/watchdog"
)

// drainTime is how long a stop waits for answers that are being written; what
// is not whole by then is kept as it is and marked at the next start.
const drainTime = 5 * time.Second

// Serve answers until ctx ends, then stops in order: no new messages, running
// answers kept, clients told, store closed.
func (g *Gateway) Serve(ctx context.Context) error {
	runtime := statedir.Runtime{URL: g.URL(), PID: os.Getpid(), Version: g.opts.Version, StartedAt: g.started.UnixMilli()}
	if err := g.opts.Dir.WriteRuntime(runtime); err != nil {
		g.release(ctx)
		return err
	}
	defer g.opts.Dir.RemoveRuntime(os.Getpid())
	g.log.Info("gateway is ready", "url", g.URL(), "version", g.opts.Version, "pid", os.Getpid(), "startMs",
		g.opts.Now().Sub(g.started).Milliseconds())

	back, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var work sync.WaitGroup
	work.Go(func() { g.outbox.Run(back) })
	work.Go(func() { g.deliverer.Run(back) })
	work.Go(func() {
		if err := g.gate.Run(back); err != nil {
			g.log.Error("messages from channels are not taken any more", "err", err)
		}
	})
	work.Go(func() { g.channels.Run(back, g.gate.Receive) })
	work.Go(func() { g.deliverer.Tidy(back) })
	work.Go(func() { watchdog.Run(back, g.watched()) })
	work.Go(func() { g.features.Run(back) })
	work.Go(func() { _ = g.secrets.Run(back) })
	work.Go(func() { g.detector.Run(back) })
	work.Go(func() {
		if err := g.config.Watch(back); err != nil {
			g.log.Warn("hand edits of the settings are not followed", "err", err)
		}
	})

	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	served := make(chan error, 1)
	work.Go(func() { served <- g.server.Serve(serving, g.ln) })

	var err error
	select {
	case <-ctx.Done():
	case <-g.restart:
		g.log.Info("a restart was asked for and allowed")
		g.comesBack.Store(true)
	case err = <-served:
	case broken := <-g.damaged:
		err = damagedError(g.opts.Dir, broken)
		g.log.Error("the store is damaged, so the gateway stops", "err", broken)
	}
	g.log.Info("gateway is stopping")
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if cerr := g.session.Close(drain); cerr != nil {
		g.log.Warn("some answers did not stop in time", "err", cerr)
	}
	stopServing()
	g.hook.Close()
	stop()
	work.Wait()
	g.release(ctx)
	return err
}

// Stuck tells when a part of the gateway has not moved for so long that only a new
// start helps: whoever runs it ends the process, without waiting for Serve.
func (g *Gateway) Stuck() <-chan error { return g.stuck }

// watched are the parts that must move.
func (g *Gateway) watched() watchdog.Options {
	keep := watchdog.Keep{File: g.opts.Dir.Stacks(), Broke: g.incidents.Broke, GaveUp: g.stuck, Logger: g.log}
	return keep.Options(
		watchdog.Part{Name: "the database", Ask: g.store.Moves},
		watchdog.Part{Name: "the conversations", Ask: func() { g.session.Load() }},
		watchdog.Part{Name: "the state of Hearth", Ask: func() { g.problems.All() }},
	)
}

// backSoon is how long a restart usually takes.
const backSoon = 3 * time.Second

// leaving tells clients whether to wait.
func (g *Gateway) leaving() server.Leaving {
	said := FarewellNone
	if g.opts.Farewell != nil {
		said = g.opts.Farewell()
	}
	switch {
	case said == FarewellQuit:
		return server.Leaving{Reason: "quit"}
	case said == FarewellAgain || g.comesBack.Load():
		return server.Leaving{Reason: "gateway restarting", RestartExpectedMs: int(backSoon.Milliseconds())}
	}
	return server.Leaving{Reason: "gateway stopping"}
}

// release gives back what New opened.
func (g *Gateway) release(ctx context.Context) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if g.ln != nil {
		_ = g.ln.Close()
	}
	g.closing.Store(true)
	if g.features != nil {
		if err := g.features.Close(closing); err != nil {
			g.log.Error("some features did not close", "err", err)
		}
	}
	if g.execution != nil {
		if err := g.execution.Processes.Close(closing); err != nil {
			g.log.Error("some commands did not end", "err", err)
		}
	}
	if g.skills != nil {
		g.skills.Close()
	}
	g.workspaces.Close()
	if g.approvals != nil {
		g.approvals.Close()
	}
	g.work.Close()
	if g.pause != nil {
		g.pause.Close()
	}
	if g.audit != nil {
		if err := g.audit.Close(closing); err != nil && g.log != nil {
			g.log.Error("the audit log did not close", "err", err)
		}
	}
	if g.store != nil {
		if err := g.store.Close(closing); err != nil && g.log != nil {
			g.log.Error("the store did not close", "err", err)
		}
	}
	if g.logs != nil {
		_ = g.logs.Close()
	}
}

// noRoom is when the store has used up what it keeps for a full disk.
const noRoom = 4 << 20

// ready is what /readyz tells.
func (g *Gateway) ready() (bool, []string) {
	if err := g.store.Problem(); err != nil {
		return false, []string{"store"}
	}
	if free, ok := g.opts.Dir.Free(); ok && free < noRoom {
		return false, []string{"disk"}
	}
	return true, nil
}
