package server

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func TestClientConnectsAndCalls(t *testing.T) {
	g := start(t, nil)
	c := g.dial(t, nil)
	h := c.hello(asCLI(protocol.ScopeRead))
	if h.Type != "hello-ok" || h.Protocol != 4 || h.Auth.Method != "token" || len(h.Snapshot.Presence) != 2 {
		t.Errorf("hello: %+v", h)
	}
	if f := c.call("health", nil); !f.OK || string(f.Payload) != `{"method":"health"}` {
		t.Errorf("health: %+v", f)
	}
	if f := c.event(protocol.EventPresence); f.Seq != 1 {
		t.Errorf("presence: %+v", f)
	}
}
