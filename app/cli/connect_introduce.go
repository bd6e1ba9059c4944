package cli

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/discovery"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/pairing/identity"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

// isSetupCode tells a code from a name or an address.
func isSetupCode(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, protocol.SetupScheme) || strings.HasPrefix(s, "eyJ") || strings.HasPrefix(s, "{")
}

// connectByDigits pairs with a gateway that this machine has no code of: both
// screens show the same six digits, or somebody sits in between.
func connectByDigits(ctx context.Context, a *app, where, name string) error {
	urls, err := a.addressesOf(ctx, where)
	if err != nil {
		return err
	}
	dir, err := a.dir()
	if err != nil {
		return err
	}
	me, err := client.RemoteIdentity(ctx, dir)
	if err != nil {
		return err
	}
	in, err := introduceAtFirst(ctx, urls, a.remoteOptions(client.Options{Scopes: allScopes(), Device: me}))
	if err != nil {
		return err
	}
	defer in.Close()
	id := cmp.Or(text.Ellipsis(line(in.GatewayID), 64), identity.IDOf(in.Pin))
	// The id is only its word: it must not take the place of one that we know.
	if known, err := client.FindRemote(dir, id); err == nil && known.ID == id && !slices.Contains(known.Pins, in.Pin) {
		return &identity.MismatchError{Want: known.Pins, Got: in.Pin}
	}
	if name, err = remoteName(dir, name, id); err != nil {
		return err
	}
	ask := []any{"A gateway answers at ", line(in.URL), ", with the key ", identity.Short(in.Pin), ".\n\n    ",
		bold(protocol.ShownCode(in.Code)),
		"\n\nIts screen shows six digits too: in `hearth devices`, on its page, or in the menu of its icon.\n"}
	if err := a.errs().print(ask...); err != nil {
		return err
	}
	same, err := a.agree("Are they the same? [y/N] ")
	if err != nil {
		return err
	}
	if !same {
		return &failure{exitRefused, "nothing was agreed, and the request on the gateway was ended", "when the digits differ somebody sits " +
			"between the two machines: try another network, or `hearth qr` on the gateway's machine and the code here"}
	}
	if err := a.errs().print("Waiting until it is allowed there.\n"); err != nil {
		return err
	}
	// The gateway ends it after two minutes, by its own clock.
	wait, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	res, err := in.Wait(wait)
	if err != nil {
		return err
	}
	if res.Type != "approved" || res.DeviceToken == "" {
		return notLetIn(res.Type)
	}
	r := client.Remote{ID: id, Name: name, Pins: []string{in.Pin}, PairedAtMs: time.Now().UnixMilli(), DeviceToken: res.DeviceToken,
		Scopes: res.Scopes}
	r.URLs = append([]string{in.URL}, slices.DeleteFunc(urls, func(u string) bool { return u == in.URL })...)
	return a.keepRemote(ctx, dir, r)
}

func notLetIn(how string) error {
	switch how {
	case "rejected":
		return &failure{exitRefused, "the person at the gateway said no", "ask them, and try again in five minutes"}
	case "expired":
		return &failure{exitRefused, "nobody at the gateway decided within two minutes", "try again, and have `hearth devices` or the page " +
			"open there"}
	}
	return &failure{exitRefused, "the gateway ended the request", "it may have been given other digits than those above; try again, or use " +
		"`hearth qr` there and the code here"}
}

// introduceAtFirst asks at the first address that answers.
func introduceAtFirst(ctx context.Context, urls []string, o client.Options) (in *client.Introduction, err error) {
	for _, u := range urls {
		o.URL = u
		one, cancel := context.WithTimeout(ctx, 5*time.Second)
		in, err = client.Introduce(one, o)
		cancel()
		var refused *client.RefusedError
		if err == nil || errors.As(err, &refused) || ctx.Err() != nil {
			break
		}
	}
	var refused *client.RefusedError
	if errors.As(err, &refused) {
		return nil, &failure{exitRefused, text.Ellipsis(line(refused.Why), 300), "try again in a minute, or use `hearth qr` there and the " +
			"code here"}
	}
	return in, err
}

// addressesOf turns what a person calls a gateway into where to dial. That only
// says where to ask: who answers is for the digits to tell.
func (a *app) addressesOf(ctx context.Context, where string) ([]string, error) {
	where = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(where), "wss://"), "/")
	if host, port, err := net.SplitHostPort(where); err == nil && host != "" && port != "" {
		return []string{"wss://" + where}, nil
	}
	if ip, err := netip.ParseAddr(where); err == nil {
		return []string{"wss://" + netip.AddrPortFrom(ip, 18789).String()}, nil
	}
	is := func(g discovery.Gateway) bool {
		id := g.Text["id"]
		return strings.EqualFold(g.Name, where) || len(where) >= 4 && strings.HasPrefix(id, strings.ToLower(where))
	}
	all := discovery.Sweep(ctx, 3*time.Second, nil)
	var hits []foundJSON
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		names = append(names, line(text.Ellipsis(name, 60)))
		if is(all[name]) {
			hits = append(hits, foundOf(all[name]))
		}
	}
	if len(hits) == 1 && len(hits[0].Addresses) > 0 {
		for i, addr := range hits[0].Addresses {
			hits[0].Addresses[i] = "wss://" + addr
		}
		return hits[0].Addresses, nil
	}
	next := "`hearth lan on` there lets it be found; or give its address, for example 192.168.1.20:18789"
	if len(names) > 0 {
		next = "found were: " + strings.Join(names, ", ") + "; name one of them or its id, or give an address"
	}
	if len(hits) > 1 {
		return nil, &failure{exitFailure, count(len(hits), "gateway") + " here are called " + line(where),
			"give the id that `hearth discover` shows, or the address"}
	}
	return nil, &failure{exitFailure, "no gateway on this network is called " + line(where), next}
}
