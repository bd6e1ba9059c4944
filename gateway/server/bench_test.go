//go:build unix

package server

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// cpuTime is what this process has used, the clients of the benchmark included.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWatchers: 200 clients watch one stream of 500 deltas, 100 a second.
// Reported: the share of one core that server and clients used together, and
// how far the last client was behind the final event.
func BenchmarkWatchers(b *testing.B) {
	for _, kind := range []string{"slim", "cumulative"} {
		b.Run(kind, func(b *testing.B) { benchWatchers(b, kind == "slim", 200, 500, 10*time.Millisecond) })
	}
}

func benchWatchers(b *testing.B, slim bool, clients, deltas int, every time.Duration) {
	g := start(b, nil)
	var done sync.WaitGroup
	var frames, ends atomic.Int64
	for range clients {
		p := asCLI(protocol.ScopeRead)
		if slim {
			p.Caps = []string{protocol.CapSlimDeltas}
		}
		c := g.connected(b, p)
		c.call(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "s"})
		done.Go(func() {
			for int(ends.Load()) < b.N*clients || b.N == 0 {
				_, data, err := c.ws.Read(b.Context())
				if err != nil {
					return
				}
				if bytes.Contains(data, []byte(`"event":"chat"`)) {
					frames.Add(1)
					if bytes.Contains(data, []byte(`"state":"final"`)) {
						ends.Add(1)
					}
				}
			}
		})
	}
	var behind time.Duration
	b.ResetTimer()
	cpu := cpuTime(b)
	for i := range b.N {
		run := fmt.Sprint("r", i)
		var text strings.Builder
		tick := time.NewTicker(every)
		for n := range deltas {
			fmt.Fprintf(&text, "word%d ", n)
			g.Delta(Delta{RunID: run, SessionKey: "s", AgentID: "main", Text: text.String(), Timestamp: 1})
			<-tick.C
		}
		tick.Stop()
		sent := time.Now()
		g.Broadcast(final(run, "s", text.String()))
		for int(ends.Load()) < (i+1)*clients {
			<-time.After(time.Millisecond)
		}
		behind = max(behind, time.Since(sent))
	}
	b.StopTimer()
	b.ReportMetric(100*float64(cpuTime(b)-cpu)/float64(b.Elapsed()), "%core")
	b.ReportMetric(float64(behind.Milliseconds()), "ms-behind")
	b.ReportMetric(float64(frames.Load())/float64(b.N), "frames/op")
	_ = g.stop()
	done.Wait()
}

// BenchmarkSessions: 500 runs grow at once, each watched by one of 20 clients.
func BenchmarkSessions(b *testing.B) {
	g := start(b, nil)
	const sessions, clients = 500, 20
	var done sync.WaitGroup
	for i := range clients {
		c := g.connected(b, slimCLI())
		for s := i; s < sessions; s += clients {
			c.call(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: fmt.Sprint("s", s)})
		}
		done.Go(func() {
			for {
				if _, _, err := c.ws.Read(b.Context()); err != nil {
					return
				}
			}
		})
	}
	texts := make([]strings.Builder, sessions)
	cpu := cpuTime(b)
	b.ResetTimer()
	for n := range b.N {
		s := n % sessions
		texts[s].WriteString("word ")
		key := fmt.Sprint("s", s)
		g.Delta(Delta{RunID: "r" + key, SessionKey: key, Text: texts[s].String()})
	}
	b.StopTimer()
	b.ReportMetric(float64(cpuTime(b)-cpu)/float64(b.N), "cpu-ns/op")
	_ = g.stop()
	done.Wait()
}

// BenchmarkRoundTrip is one request and its answer.
func BenchmarkRoundTrip(b *testing.B) {
	g := start(b, func(o *Options) { o.Limits.RequestRate = 1e9 })
	c := g.connected(b, asCLI())
	for b.Loop() {
		c.call("health", nil)
	}
}

// BenchmarkConnect is a whole connection of a paired device: upgrade,
// challenge, signature, hello, close.
func BenchmarkConnect(b *testing.B) {
	g := start(b, nil)
	p := asCLI(protocol.ScopeRead).device(newKey(b))
	for b.Loop() {
		c := g.connected(b, p)
		_ = c.ws.CloseNow()
	}
}
