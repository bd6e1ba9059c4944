package discovery

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Change says what happened to a gateway between two sweeps.
type Change string

// The changes that Browse reports.
const (
	Added   Change = "add"
	Updated Change = "update"
	Removed Change = "remove"
)

const (
	sweepTime = time.Second
	firstWait = 500 * time.Millisecond
	// patience: after so many sweeps without an answer a gateway is gone. It is
	// short of what a lossy network needs and long for one that was switched off.
	patience = 3
	// eager is how long sweeps follow each other closely while nothing is found.
	eager = 20
)

// Browse is how the lab watches a network: it sweeps until ctx ends, at first often, then every most, and reports
// what is new, different or gone.
func Browse(ctx context.Context, most time.Duration, report func(Change, Gateway)) {
	b := browser{known: map[string]*sighting{}, report: report}
	wait := firstWait
	for round := 0; ; round++ {
		got := sweep(ctx, Service, Interfaces(), sweepTime, nil)
		if ctx.Err() != nil {
			return
		}
		missing := b.compare(got)
		if missing || len(b.known) == 0 && round < eager {
			wait = firstWait
		}
		pause := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
		wait = min(2*wait, most)
	}
}

type sighting struct {
	Gateway
	missed int
}

type browser struct {
	known  map[string]*sighting
	report func(Change, Gateway)
}

// compare takes one sweep in; missing tells that a known gateway did not
// answer and is not given up yet.
func (b *browser) compare(got map[string]Gateway) (missing bool) {
	for _, name := range slices.Sorted(maps.Keys(got)) {
		g := got[name]
		old := b.known[name]
		switch {
		case old == nil && len(b.known) >= maxGateways:
		case old == nil:
			b.known[name] = &sighting{Gateway: g}
			b.report(Added, g)
		default:
			old.missed = 0
			if !same(old.Gateway, g) {
				old.Gateway = g
				b.report(Updated, g)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.known)) {
		if _, answered := got[name]; answered {
			continue
		}
		old := b.known[name]
		if old.missed++; old.missed < patience {
			missing = true
			continue
		}
		delete(b.known, name)
		b.report(Removed, old.Gateway)
	}
	return missing
}

func same(a, b Gateway) bool {
	return a.Host == b.Host && a.Port == b.Port && slices.Equal(a.Addrs, b.Addrs) && maps.Equal(a.Text, b.Text)
}
