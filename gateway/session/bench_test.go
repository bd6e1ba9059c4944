package session

import (
	"context"
	"fmt"
	"runtime"
	"testing"
)

// What a lane itself costs a turn, apart from the store and the model: taking
// the place in the queue, becoming active, ten deltas, being looked at, and
// giving way (budget: 20 µs).
func BenchmarkLaneTurn(b *testing.B) {
	m := NewManager(b.Context(), Options{})
	l := m.laneOf(benchKey)
	l.working = true // nobody serves it: the benchmark is its goroutine
	for b.Loop() {
		r := m.newRun(Run{ID: "r", SessionKey: benchKey, Mode: Steer}, "hello")
		m.enqueue(r)
		if l.next(context.WithoutCancel(b.Context())) != r {
			b.Fatal("another run")
		}
		for range 10 {
			l.say(r, "words ")
		}
		l.snapshot()
		l.release(r)
		r.cancel(nil)
		m.forget(r)
	}
}

// What a lane costs that has nothing to do (budget: 20 MB for 10,000).
func BenchmarkIdleLanes(b *testing.B) {
	const lanes = 10_000
	for b.Loop() {
		m := NewManager(b.Context(), Options{})
		before := heap()
		for i := range lanes {
			m.laneOf(fmt.Sprintf("agent:main:chat:%d", i))
		}
		b.ReportMetric(float64(heap()-before)/(1<<20), "MB/10000lanes")
		runtime.KeepAlive(m)
	}
}

func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
