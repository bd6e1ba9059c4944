package gateway

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/startup"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/watchdog"
)

// drainTime is how long a stop waits for answers that are being written; what
// is not whole by then is kept as it is and marked at the next start.
const drainTime = 5 * time.Second

// Serve answers until ctx ends, then stops in order: no new messages, running
// answers kept, clients told, store closed.
func (g *Gateway) Serve(ctx context.Context) error {
	b, log := g.base, g.base.Logger
	defer b.Dir.RemoveRuntime(os.Getpid())
	defer g.ends.Close(ctx)
	runtime := statedir.Runtime{URL: g.URL(), PID: os.Getpid(), Version: b.Version, StartedAt: b.started.UnixMilli()}
	if err := b.Dir.WriteRuntime(runtime); err != nil {
		return err
	}
	log.Info("gateway is ready", "url", g.URL(), "version", b.Version, "pid", os.Getpid(), "startMs", b.Now().Sub(b.started).Milliseconds())

	back, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var work sync.WaitGroup
	switch {
	case b.asleep.Sleeps() && (b.asleep.Arrived || b.asleep.Device == ""): // nobody needs to reach it
	case b.asleep.Sleeps():
		work.Go(func() { b.features.RunOnly(back, "lan", "move") }) // what it takes to be moved
	case !b.Rehearsal:
		g.run(back, &work)
	}
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	served := make(chan error, 1)
	work.Go(func() { served <- g.access.server.Serve(serving, g.access.ln) })

	var err error
	select {
	case <-ctx.Done():
	case <-g.restart:
		log.Info("a restart was asked for and allowed")
		g.comesBack.Store(true)
	case err = <-served:
	case broken := <-b.damaged:
		err = startup.Damaged(b.Dir, broken)
		log.Error("the store is damaged, so the gateway stops", "err", broken)
	}
	log.Info("gateway is stopping")
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if cerr := g.talk.sessions.Close(drain); cerr != nil {
		log.Warn("some answers did not stop in time", "err", cerr)
	}
	stopServing()
	g.runs.openai.Close()
	stop()
	work.Wait()
	return err
}

// run does what goes on in the background until ctx ends.
func (g *Gateway) run(ctx context.Context, work *sync.WaitGroup) {
	b, n := g.base, g.networks
	work.Go(func() { n.outbox.Run(ctx) })
	// The networks stay connected until the message in hand is over, so that it has its receipt.
	networks, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	work.Go(func() {
		defer disconnect()
		n.deliverer.Run(ctx)
	})
	work.Go(func() { n.deliverer.Tidy(ctx) })
	work.Go(func() { g.talk.owner.Desk().Run(ctx) })
	work.Go(func() {
		if err := n.gate.Run(ctx); err != nil {
			b.Logger.Error("messages from channels are not taken any more", "err", err)
		}
	})
	work.Go(func() { g.talk.hub.Run(networks, n.gate.Receive) })
	work.Go(func() { b.features.Run(ctx) })
	work.Go(func() { _ = b.secrets.Run(ctx) })
	work.Go(func() { g.engine.detector.Run(ctx) })
	work.Go(func() {
		if err := b.config.Watch(ctx); err != nil {
			b.Logger.Warn("hand edits of the settings are not followed", "err", err)
		}
	})
	keep := watchdog.Keep{File: b.Dir.Stacks(), Broke: b.incidents.Broke, GaveUp: g.stuck, Logger: b.Logger}
	work.Go(func() {
		watchdog.Run(ctx, keep.Options(
			watchdog.Part{Name: "the database", Ask: b.store.Moves},
			watchdog.Part{Name: "the conversations", Ask: func() { g.talk.sessions.Load() }},
			watchdog.Part{Name: "the state of Hearth", Ask: func() { b.problems.All() }},
		))
	})
}

// leaving tells clients whether to wait.
func (g *Gateway) leaving() server.Leaving {
	said := FarewellNone
	if f := g.base.Farewell; f != nil {
		said = f()
	}
	return server.Left(said == FarewellQuit, said == FarewellAgain || g.comesBack.Load())
}
