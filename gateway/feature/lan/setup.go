package lan

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pairing/compare"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// setupCode makes a code that pairs one device on another machine: where we
// are, which key we have, and a secret that works once.
func (n *Network) setupCode(ctx context.Context, access pairing.Access) (protocol.PairSetup, error) {
	urls, tail := n.urls(), n.tailnet(ctx)
	if len(urls) == 0 && tail != nil && tail.URL != "" && access != pairing.AccessNode {
		return n.tailnetCode(tail, access)
	}
	if len(urls) == 0 {
		why := "only this machine can reach Hearth"
		if p := n.reach.State().Problem; p != "" {
			why = p
		}
		return protocol.PairSetup{}, protocol.Invalid("No other machine could use a setup code: %s. Run `hearth lan on` first.", why).With("code",
			"NOT_REACHABLE")
	}
	who, err := n.identity()
	if err != nil {
		return protocol.PairSetup{}, err
	}
	print, err := who.Fingerprint()
	if err != nil {
		return protocol.PairSetup{}, err
	}
	secret, expires, err := n.o.Pairing.MintSetup(access)
	if err != nil {
		return protocol.PairSetup{}, protocol.Invalid("%v", err)
	}
	s := protocol.SetupCode{URL: urls[0], URLs: urls, BootstrapToken: secret, ExpiresAtMs: expires.UnixMilli(), TLSFingerprint: print,
		Pin: who.Pins()[0], ID: who.ID()}
	code, err := s.Encode()
	if err != nil {
		return protocol.PairSetup{}, err
	}
	n.o.Log.Info("a setup code was made", "access", access, "until", expires)
	out := protocol.PairSetup{SetupCode: code, ExpiresAtMs: s.ExpiresAtMs, GatewayURL: s.URL, URLs: urls, Auth: "token",
		Access: string(access), Pin: s.Pin, Fingerprint: print}
	if access != pairing.AccessNode {
		out.PhoneURLs = phoneLinks(tail, urls, secret)
	}
	return out, nil
}

// tailnetCode is for a gateway that only browsers reach, by Tailscale: there is
// no address at which another program could check our key.
func (n *Network) tailnetCode(tail *protocol.ReachTailscale, access pairing.Access) (protocol.PairSetup, error) {
	secret, expires, err := n.o.Pairing.MintSetup(access)
	if err != nil {
		return protocol.PairSetup{}, protocol.Invalid("%v", err)
	}
	n.o.Log.Info("a code for a phone was made", "access", access, "until", expires)
	return protocol.PairSetup{ExpiresAtMs: expires.UnixMilli(), GatewayURL: tail.URL, URLs: []string{}, Auth: "token", Access: string(access),
		PhoneURLs: phoneLinks(tail, nil, secret)}, nil
}

// urls are where other machines can dial us: private IPv4 addresses first, the
// name last, for it works only where Bonjour does.
func (n *Network) urls() (out []string) {
	st := n.reach.State()
	slices.SortStableFunc(st.Addresses, func(a, b netip.AddrPort) int {
		return a.Addr().BitLen() - b.Addr().BitLen()
	})
	for _, a := range st.Addresses {
		if a.Addr().Zone() == "" && len(out) < 5 {
			out = append(out, "wss://"+a.String())
		}
	}
	n.mu.Lock()
	who, named := n.who, n.adv != nil
	n.mu.Unlock()
	if len(out) > 0 && named && who != nil {
		out = append(out, "wss://"+net.JoinHostPort(who.Host(), strconv.Itoa(n.o.Port)))
	}
	return out
}

// introduce lets a machine without a code ask, by digits that people compare.
func (n *Network) introduce(ctx context.Context, l pairing.Line, source netip.Addr, conn *tls.ConnectionState) error {
	who, err := n.identity()
	if err != nil {
		return err
	}
	ch, err := compare.ChannelOf(conn, who.Pins()[0])
	if err != nil {
		return err
	}
	return n.o.Pairing.Introduce(ctx, pairing.Introduction{Line: l, Source: source, Channel: ch, ID: who.ID()})
}

func (n *Network) rotate(context.Context, method.None) (protocol.ReachRotation, error) {
	who, err := n.identity()
	if err != nil {
		return protocol.ReachRotation{}, err
	}
	from, err := who.Rotate()
	if err != nil {
		return protocol.ReachRotation{}, err
	}
	n.o.Audit.Add(audit.Entry{Kind: audit.KindAuth, What: "the gateway's key is being changed",
		Facts: map[string]string{"from": from.UTC().Format("2006-01-02")}})
	out := protocol.ReachRotation{FromMs: from.UnixMilli()}
	if pins := who.Pins(); len(pins) == 2 {
		out.Pin, out.NextPin = pins[0], pins[1]
	}
	return out, nil
}

func (n *Network) pairSetupCode(ctx context.Context, p protocol.PairSetupParams) (protocol.PairSetup, error) {
	s, err := n.setupCode(ctx, pairing.Access(cmp.Or(p.Access, string(pairing.AccessLimited))))
	if err != nil || !p.IncludeQR {
		return s, err
	}
	err = drawSetup(&s)
	return s, err
}
