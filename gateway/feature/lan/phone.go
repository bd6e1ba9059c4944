package lan

import (
	"context"
	"net"
	"strconv"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// names are those by which a browser may come to the page for phones: the
// addresses that are open now, and our own name on the local network.
func (n *Network) names() (out []string) {
	for _, a := range n.reach.State().Addresses {
		if a.Addr().Zone() == "" {
			out = append(out, a.String())
		}
	}
	if len(out) == 0 {
		return nil
	}
	n.mu.Lock()
	who := n.who
	n.mu.Unlock()
	if who != nil {
		out = append(out, net.JoinHostPort(who.Host(), strconv.Itoa(n.o.Port)))
	}
	return out
}

// authority is the certificate that a browser can be told to trust.
func (n *Network) authority() ([]byte, error) {
	who, err := n.identity()
	if err != nil {
		return nil, err
	}
	return who.Authority().Raw, nil
}

// Front reports whether a host is the one by which `tailscale serve` hands
// browsers on to us.
func (n *Network) Front(ctx context.Context, host string) bool {
	s := n.tail.State(ctx)
	return s.Host != "" && s.Host == host
}

// tailnet is what a person is told of it, nil without Tailscale.
func (n *Network) tailnet(ctx context.Context) *protocol.ReachTailscale {
	n.tail.Forget() // a person who asks may have just changed it
	s := n.tail.State(ctx)
	if s.Name == "" {
		return nil
	}
	out := &protocol.ReachTailscale{Name: s.Name, Public: s.Public}
	if s.Host != "" {
		out.URL = "https://" + s.Host + "/phone"
	}
	return out
}

// phoneLinks are the addresses of the page for phones, with the secret of a
// setup code behind them, where no server and no log sees it. Tailscale's comes
// first, for every browser trusts its certificate; then the name, to which ours is
// made out.
func phoneLinks(tail *protocol.ReachTailscale, urls []string, secret string) []string {
	out := make([]string, 0, len(urls)+1)
	for _, u := range urls {
		link := "https://" + strings.TrimPrefix(u, "wss://") + "/phone#" + secret
		if strings.Contains(u, ".local:") {
			out = append([]string{link}, out...)
		} else {
			out = append(out, link)
		}
	}
	if tail != nil && tail.URL != "" {
		out = append([]string{tail.URL + "#" + secret}, out...)
	}
	return out
}
