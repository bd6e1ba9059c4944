package main

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"
)

// mostSlack bounds by how much a busy machine excuses a figure.
const mostSlack = 8

// busy says how much longer than by itself something takes on this machine now,
// because of what others do on it: 1 on a quiet one. Each processor gets work that
// takes less than a millisecond and is asked how long it took, beside how long the
// fastest of all ever did.
func (b *bench) busy() float64 {
	const rounds = 150
	var slow atomic.Int64
	done := make(chan struct{}, runtime.NumCPU())
	for range runtime.NumCPU() {
		go func() {
			for range rounds {
				began := time.Now()
				spin()
				took := time.Since(began)
				slow.Add(int64(took))
				for {
					best := b.fastest.Load()
					if best != 0 && best <= int64(took) || b.fastest.CompareAndSwap(best, int64(took)) {
						break
					}
				}
			}
			done <- struct{}{}
		}()
	}
	for range runtime.NumCPU() {
		<-done
	}
	mean := float64(slow.Load()) / float64(rounds*runtime.NumCPU())
	return max(1, mean/float64(b.fastest.Load()))
}

// spin is less than a millisecond of work that needs no memory.
func spin() {
	x := uint64(1)
	for range 600_000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 {
		panic("xorshift never comes to nothing")
	}
}

// slackOf is by how much a budget may be missed on a machine that is so busy: a
// time by as much as the machine is slower, the processor time of a process by what
// others cost it in caches, and what is no time by nothing.
func (f figure) slackOf(busy float64) float64 {
	switch {
	case busy < 1.1 || f.unit != "ms" && f.unit != "s" && f.unit != "µs":
		return 1
	case f.work:
		return min(math.Sqrt(busy), 2)
	}
	return min(busy, mostSlack)
}

// sayBusy tells it in words.
func sayBusy(busy float64) string {
	if busy < 1.1 {
		return "on a quiet machine"
	}
	return fmt.Sprintf("on a machine on which others worked too: everything took %.1f times as long", busy)
}
