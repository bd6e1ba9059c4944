package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestHandshakeTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		c := g.dial(t, nil)
		began := time.Now()
		if ce := c.closed(); ce.Code != 1000 || ce.Reason != "" {
			t.Errorf("closed with %d %q", ce.Code, ce.Reason)
		}
		if d := time.Since(began); d != 15*time.Second {
			t.Errorf("after %v", d)
		}
	})
}

func TestTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		c := g.connected(t, asCLI())
		began := time.Now()
		for range 3 {
			c.readUntil(protocol.EventTick, 40*time.Second)
		}
		if d := time.Since(began).Round(time.Second); d != 90*time.Second {
			t.Errorf("three ticks in %v", d)
		}
	})
}

// readUntil is event with another patience.
func (c *client) readUntil(name string, patience time.Duration) frame {
	c.t.Helper()
	c.patience = patience
	defer func() { c.patience = 0 }()
	return c.event(name)
}

// A peer that is gone without a word is noticed.
func TestFault_F_WS_06_SilentPeerIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		g.connected(t, asCLI()) // never reads again, so never answers a ping
		synctest.Wait()
		if n := g.Clients(); n != 1 {
			t.Fatalf("%d clients", n)
		}
		pass(55 * time.Second)
		synctest.Wait()
		if n := g.Clients(); n != 0 {
			t.Errorf("%d clients", n)
		}
	})
}

func TestRevocationClosesTheSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		key := newKey(t)
		c, other := g.connected(t, asCLI(protocol.ScopeRead).device(key)), g.connected(t, asCLI(protocol.ScopeRead))
		began := time.Now()
		if err := g.registry.Revoke(t.Context(), keyID(key)); err != nil {
			t.Fatal(err)
		}
		if ce := c.closed(); ce.Code != 4001 || ce.Reason != "device removed" || time.Since(began) > time.Second {
			t.Errorf("closed with %d %q after %v", ce.Code, ce.Reason, time.Since(began))
		}
		if f := other.call("health", nil); !f.OK {
			t.Errorf("another client: %+v", f)
		}
	})
}

func TestShutdownTellsEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		c, waiting := g.connected(t, asCLI()), g.dial(t, nil)
		stopped := make(chan error, 1)
		go func() { stopped <- g.stop() }()
		if f := c.event(protocol.EventShutdown); string(f.Payload) != `{"reason":"gateway stopping"}` {
			t.Errorf("%s", f.Payload)
		}
		for _, c := range []*client{c, waiting} {
			if ce := c.closed(); ce.Code != 1012 || ce.Reason != "service restart" {
				t.Errorf("closed with %d %q", ce.Code, ce.Reason)
			}
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

func TestPresenceIsGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		watcher := g.connected(t, asCLI(protocol.ScopeRead))
		watcher.event(protocol.EventPresence)
		for range 5 { // come and go within the delay: not worth a word
			g.connected(t, asCLI()).ws.CloseNow()
			synctest.Wait()
		}
		pass(time.Second)
		g.connected(t, asBackend(protocol.ScopeRead))
		var p presencePayload
		f := watcher.event(protocol.EventPresence)
		if err := json.Unmarshal(f.Payload, &p); err != nil {
			t.Fatal(err)
		}
		if f.Seq != 2 || len(p.Presence) != 3 || p.Presence[0].Mode != "gateway" || p.Presence[2].ClientID != "gateway-client" {
			t.Errorf("seq %d: %+v", f.Seq, p.Presence)
		}
	})
}

// A client above its rate is slowed down and loses nothing.
func TestRequestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, func(o *Options) { o.Limits.RequestRate, o.Limits.RequestBurst = 10, 5 })
		c := g.connected(t, asCLI())
		began := time.Now()
		for range 25 {
			if f := c.call("health", nil); !f.OK {
				t.Fatalf("%+v", f)
			}
		}
		if d := time.Since(began).Round(100 * time.Millisecond); d != 2*time.Second {
			t.Errorf("25 requests at 10/s after a burst of 5 took %v", d)
		}
	})
}

// Deltas are paced: a run shows at most one step per interval, the last words
// come without another delta, and the first ones at once.
func TestDeltaPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startMemory(t, nil)
		slim, full := g.connected(t, slimCLI()), g.connected(t, asCLI(protocol.ScopeRead))
		slim.call(protocol.MethodSessionsMessagesSubscribe, protocol.SessionKeyParams{Key: "s"})
		began := time.Now()
		var text strings.Builder
		go func() {
			for i := range 50 {
				fmt.Fprintf(&text, "word%d ", i)
				g.Delta(Delta{RunID: "r", SessionKey: "s", Text: text.String()})
				pass(5 * time.Millisecond)
			}
		}()
		type arrival struct {
			at time.Duration
			e  protocol.ChatEvent
		}
		collect := func(c *client, out chan<- []arrival) {
			var all []arrival
			for {
				e := c.chat()
				all = append(all, arrival{time.Since(began), e})
				if strings.HasSuffix(e.DeltaText, "word49 ") {
					out <- all
					return
				}
			}
		}
		fromSlim, fromFull := make(chan []arrival, 1), make(chan []arrival, 1)
		go collect(slim, fromSlim)
		go collect(full, fromFull)
		for name, tt := range map[string]struct {
			got  []arrival
			pace time.Duration
		}{"slim": {<-fromSlim, 20 * time.Millisecond}, "full": {<-fromFull, 100 * time.Millisecond}} {
			if tt.got[0].at != 0 || tt.got[0].e.DeltaText != "word0 " {
				t.Errorf("%s: first %+v", name, tt.got[0])
			}
			for i := 1; i < len(tt.got); i++ {
				if d := tt.got[i].at - tt.got[i-1].at; d < tt.pace {
					t.Errorf("%s: step %d after %v", name, i, d)
				}
			}
			if last := tt.got[len(tt.got)-1].at; last > 245*time.Millisecond+tt.pace {
				t.Errorf("%s: the last words came at %v", name, last)
			}
		}
	})
}
