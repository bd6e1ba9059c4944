package push

import (
	"context"

	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

func (p *Push) key(ctx context.Context, _ method.None) (protocol.PushKey, error) {
	k, err := p.keys.get(ctx)
	return protocol.PushKey{VapidPublicKey: k.public}, err
}

func (p *Push) subscribe(ctx context.Context, c *server.Caller, in protocol.PushSubscribeParams) (protocol.PushSubscribed, error) {
	const name = protocol.MethodPushSubscribe
	if c.DeviceID == "" {
		return protocol.PushSubscribed{}, protocol.Invalid("only a browser that was let in as a device of its own can be notified; open " +
			"Hearth's page by `hearth open` or a code of `hearth qr`")
	}
	if err := checkEndpoint(in.Endpoint); err != nil {
		return protocol.PushSubscribed{}, protocol.InvalidParams(name, "%v", err)
	}
	if err := checkKeys(in.Keys); err != nil {
		return protocol.PushSubscribed{}, protocol.InvalidParams(name, "%v", err)
	}
	k, err := p.keys.get(ctx)
	if err != nil {
		return protocol.PushSubscribed{}, err
	}
	one := subscription{ID: idOf(in.Endpoint), DeviceID: c.DeviceID, Endpoint: in.Endpoint, Keys: in.Keys, Public: k.public,
		CreatedMs: p.o.Now().UnixMilli(), Wants: protocol.PushDevicePreferences{Enabled: true}}
	before, known := p.subs.get(one.ID)
	if known && before.DeviceID != c.DeviceID && p.holds(before.DeviceID) {
		return protocol.PushSubscribed{}, notBound()
	}
	if known {
		one.Wants = before.Wants
	} else if older, ok := p.newest(c.DeviceID); ok {
		one.Wants = older.Wants // the browser was given another address: its person's choice stays
	}
	return protocol.PushSubscribed{SubscriptionID: one.ID}, p.subs.put(ctx, one)
}

// holds reports whether a device is still let in.
func (p *Push) holds(deviceID string) bool {
	for _, d := range p.o.Devices.Devices() {
		if d.ID == deviceID {
			return mayHear(d, protocol.ScopeRead)
		}
	}
	return false
}

func (p *Push) newest(deviceID string) (subscription, bool) {
	for _, s := range p.subs.list() {
		if s.DeviceID == deviceID {
			return s, true
		}
	}
	return subscription{}, false
}

func notBound() *protocol.Error {
	return protocol.Invalid("this subscription belongs to another device, or there is none; switch notifications on here").With("code", "FORBIDDEN")
}

// own is the subscription of the caller's device.
func (p *Push) own(c *server.Caller, endpoint string) (subscription, error) {
	s, ok := p.subs.get(idOf(endpoint))
	if !ok || c.DeviceID == "" || s.DeviceID != c.DeviceID {
		return subscription{}, notBound()
	}
	return s, nil
}

func (p *Push) unsubscribe(ctx context.Context, c *server.Caller, in protocol.PushEndpointParams) (protocol.PushUnsubscribed, error) {
	s, err := p.own(c, in.Endpoint)
	if err != nil {
		return protocol.PushUnsubscribed{}, err
	}
	err = p.subs.forget(ctx, func(o subscription) bool { return o.ID == s.ID })
	return protocol.PushUnsubscribed{Removed: err == nil}, err
}

func (p *Push) preferencesGet(_ context.Context, c *server.Caller, in protocol.PushEndpointParams) (protocol.PushPreferencesResult, error) {
	s, err := p.own(c, in.Endpoint)
	if err != nil {
		return protocol.PushPreferencesResult{}, err
	}
	return preferencesOf(s), nil
}

func preferencesOf(s subscription) protocol.PushPreferencesResult {
	return protocol.PushPreferencesResult{User: standard(), Device: s.Wants, Effective: effective(s.Wants)}
}

func (p *Push) preferencesSet(ctx context.Context, c *server.Caller, in protocol.PushPreferencesSetParams) (protocol.PushPreferencesResult,
	error) {
	const name = protocol.MethodPushPreferencesSet
	s, err := p.own(c, in.Endpoint)
	if err != nil {
		return protocol.PushPreferencesResult{}, err
	}
	if in.Scope != "device" {
		return protocol.PushPreferencesResult{}, protocol.InvalidParams(name, "scope is device: there are no profiles of people here")
	}
	if err := checkPreferences(in.Preferences); err != nil {
		return protocol.PushPreferencesResult{}, protocol.InvalidParams(name, "%v", err)
	}
	s.Wants = in.Preferences
	return preferencesOf(s), p.subs.put(ctx, s)
}

// test sends something to the caller's device and says what came of it.
func (p *Push) test(ctx context.Context, c *server.Caller, in protocol.PushTestParams) (protocol.PushTested, error) {
	n := notice{kind: kindTest, device: c.DeviceID, title: in.Title, text: in.Body, until: p.o.Now().Add(testLife)}
	out := protocol.PushTested{Results: []protocol.PushTrial{}}
	if c.DeviceID == "" {
		return out, notBound()
	}
	for _, s := range p.wanting(n) {
		r := p.send(ctx, s, n)
		out.Results = append(out.Results, protocol.PushTrial{SubscriptionID: s.ID, OK: r.err == nil, StatusCode: r.status, Error: r.words()})
	}
	if len(out.Results) == 0 {
		return out, protocol.Invalid("notifications are off for this device; switch them on first").With("code", "NOT_FOUND")
	}
	return out, nil
}

func (p *Push) open(_ context.Context, in protocol.PushOpenParams) (protocol.PushPlace, error) {
	return p.places.get(in.Ref)
}
