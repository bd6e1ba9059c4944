package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/discovery"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Anybody can say that they are the gateway, and say it first: it is found all
// the same, and who is not it is named when it is not there.
func TestSec_A_DISC_01_TheFirstToAnswerIsNotBelieved(t *testing.T) {
	at := func(id string, addrs ...string) discovery.Gateway {
		g := discovery.Gateway{Name: "x", Port: 18789, Text: map[string]string{"id": id}}
		for _, a := range addrs {
			g.Addrs = append(g.Addrs, netip.MustParseAddr(a))
		}
		return g
	}
	thief, dead, home := at("home", "10.0.0.3"), at("home", "10.0.0.4"), at("home", "10.0.0.1")
	answers := map[string]error{
		"wss://10.0.0.1:18789": nil,
		"wss://10.0.0.3:18789": &identity.MismatchError{Got: "thief"},
		"wss://10.0.0.4:18789": client.ErrUnreachable,
		"wss://10.0.0.5:18789": &protocol.Error{Code: protocol.CodeForbidden, Message: "no"},
	}
	for name, c := range map[string]struct {
		hears []discovery.Gateway
		dials []string
		ok    bool
		says  error // how it ends else
	}{
		"the thief is first": {hears: []discovery.Gateway{thief, home},
			dials: []string{"wss://10.0.0.3:18789", "wss://10.0.0.1:18789"}, ok: true},
		"a dead address is first": {hears: []discovery.Gateway{dead, home},
			dials: []string{"wss://10.0.0.4:18789", "wss://10.0.0.1:18789"}, ok: true},
		"the thief alone": {hears: []discovery.Gateway{thief, dead},
			dials: []string{"wss://10.0.0.3:18789", "wss://10.0.0.4:18789"}, says: answers["wss://10.0.0.3:18789"]},
		"more is learned of one": {hears: []discovery.Gateway{dead, at("home", "10.0.0.4", "10.0.0.1")},
			dials: []string{"wss://10.0.0.4:18789", "wss://10.0.0.1:18789"}, ok: true},
		"others": {hears: []discovery.Gateway{at("office", "10.0.0.1")}, says: errNotFound},
		"nobody": {says: errNotFound},
		"the gateway itself does not want it": {hears: []discovery.Gateway{at("home", "10.0.0.5"), thief},
			dials: []string{"wss://10.0.0.5:18789"}, says: answers["wss://10.0.0.5:18789"]},
	} {
		t.Run(name, func(t *testing.T) {
			var dials []string
			s := search{
				sweep: func(ctx context.Context, _ time.Duration, found func(discovery.Gateway)) map[string]discovery.Gateway {
					for _, g := range c.hears {
						found(g)
					}
					if c.ok {
						<-ctx.Done() // it goes on listening until the right one is there
					}
					return nil
				},
				dial: func(_ context.Context, url string) (*client.Client, error) {
					dials = append(dials, url)
					if err := answers[url]; err != nil {
						return nil, err
					}
					return new(client.Client), nil
				},
			}
			got, url, err := s.run(t.Context(), "home")
			if !slices.Equal(dials, c.dials) {
				t.Errorf("asked %v", dials)
			}
			if c.ok != (err == nil && got != nil && url == "wss://10.0.0.1:18789") || !c.ok && !errors.Is(err, c.says) {
				t.Errorf("%v %s %v", got, url, err)
			}
		})
	}
}

// What a network says is bounded.
func TestASearchIsBounded(t *testing.T) {
	n := 0
	s := search{
		sweep: func(_ context.Context, _ time.Duration, found func(discovery.Gateway)) map[string]discovery.Gateway {
			for i := range 200 {
				found(discovery.Gateway{Port: 1, Text: map[string]string{"id": "home"},
					Addrs: []netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})}})
			}
			return nil
		},
		dial: func(context.Context, string) (*client.Client, error) { n++; return nil, client.ErrUnreachable },
	}
	if _, _, err := s.run(t.Context(), "home"); !errors.Is(err, client.ErrUnreachable) || n != maxTried {
		t.Errorf("%d %v", n, err)
	}
}

// A node asks the network at once when its gateway is not where it was, and not
// for one that is just starting.
func TestWhenANodeLooks(t *testing.T) {
	refused := fmt.Errorf("%w: %w", client.ErrUnreachable, syscall.ECONNREFUSED)
	for _, c := range []struct {
		err      error
		failures int
		want     bool
	}{
		{refused, 0, false}, {refused, 1, false}, {refused, 4, true}, {refused, 9, true},
		{client.ErrUnreachable, 1, true}, {client.ErrUnreachable, 2, false}, {client.ErrUnreachable, 4, true},
		{&identity.MismatchError{}, 2, true},
	} {
		if got := looks(c.err, c.failures); got != c.want {
			t.Errorf("%v, %d: %v", c.err, c.failures, got)
		}
	}
}
