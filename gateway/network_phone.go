package gateway

import (
	"net"
	"strconv"
	"strings"
)

// names are those by which a browser may come to the page for phones: the
// addresses that are open now, and our own name on the local network.
func (n *network) names() (out []string) {
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
		out = append(out, net.JoinHostPort(who.Host(), strconv.Itoa(n.port())))
	}
	return out
}

// authority is the certificate that a browser can be told to trust.
func (n *network) authority() ([]byte, error) {
	who, err := n.identity()
	if err != nil {
		return nil, err
	}
	return who.Authority().Raw, nil
}

// phoneLinks are the addresses of the page for phones, with the secret of a
// setup code behind them, where no server and no log sees it. The name comes
// first where it works: the certificate is made out to it.
func phoneLinks(urls []string, secret string) []string {
	out := make([]string, 0, len(urls))
	for _, u := range urls {
		link := "https://" + strings.TrimPrefix(u, "wss://") + "/phone#" + secret
		if strings.Contains(u, ".local:") {
			out = append([]string{link}, out...)
		} else {
			out = append(out, link)
		}
	}
	return out
}
