package pairing

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Methods of authentication, as hello tells them.
const (
	MethodToken       = "token"
	MethodDeviceToken = "device-token"
	MethodBootstrap   = "bootstrap-token"
)

// Authenticate decides one connect. The error is in the protocol's form and
// never says more than the client already knows.
func (r *Registry) Authenticate(ctx context.Context, a Attempt) (*Grant, *protocol.Error) {
	var pub ed25519.PublicKey
	if a.Params.Device != nil {
		var err *protocol.Error
		if pub, err = r.verifyOne(&a); err != nil {
			return nil, err
		}
	}
	if a.Params.RoleOrDefault() == protocol.RoleNode && a.Params.Client.Mode != "node" {
		return nil, errNotANode()
	}
	method, t, err := r.checkCredentials(&a)
	if err != nil {
		return nil, err
	}
	if a.Params.Device == nil {
		return r.grantWithoutDevice(&a)
	}
	g, err := r.grantDevice(ctx, &a, pub, method, t)
	if err != nil && method == MethodBootstrap {
		r.giveBack(t)
	}
	return g, err
}

// verifyOne looks at the device of a connect. Signatures are checked one at a time:
// whoever sends bad ones, in whatever number, keeps one processor busy at most, and
// who waits behind them waits for a moment (A-DOS-12).
func (r *Registry) verifyOne(a *Attempt) (ed25519.PublicKey, *protocol.Error) {
	r.verifying.Lock()
	defer r.verifying.Unlock()
	return r.verify(a.Params, a.Nonce, r.now().UnixMilli())
}

// checkCredentials tries what the client presented, in the order of the
// protocol.
func (r *Registry) checkCredentials(a *Attempt) (method string, t ticket, err *protocol.Error) {
	auth := a.Params.Auth
	if auth == nil {
		auth = &protocol.Auth{}
	}
	if auth.Token == "" && auth.DeviceToken == "" && auth.BootstrapToken == "" {
		if a.Params.Device == nil {
			return "", t, errDeviceRequired()
		}
		return "", t, errTokenMissing()
	}
	c := check{r: r, a: a}
	if auth.Token != "" {
		byDevice := false
		verify := func() bool {
			shared := r.isShared(auth.Token)
			byDevice = r.isDeviceToken(a, auth.Token) // always computed: the time must not tell which matched
			return shared || byDevice
		}
		// Whoever holds a token that nobody can guess, on its own machine, does not
		// wait for what others there tried.
		if a.Local && r.unguessable() && verify() {
			if byDevice {
				return MethodDeviceToken, t, nil
			}
			return MethodToken, t, nil
		}
		if c.try(classToken, verify, errTokenMismatch(a.Params.Device != nil)) {
			if byDevice {
				return MethodDeviceToken, t, nil
			}
			return MethodToken, t, nil
		}
	}
	if a.Params.Device == nil {
		if c.failed == nil {
			c.failed = errDeviceRequired() // the other credentials belong to a device
		}
		return "", t, c.failed
	}
	if auth.BootstrapToken != "" {
		verify := func() (ok bool) {
			t, ok = r.takeTicket(auth.BootstrapToken, a.Local, a.Params.RoleOrDefault())
			return ok
		}
		if c.try(classBootstrap, verify, errBootstrapInvalid()) {
			return MethodBootstrap, t, nil
		}
	}
	if auth.DeviceToken != "" && c.try(classDevice, func() bool { return r.isDeviceToken(a, auth.DeviceToken) }, errDeviceTokenMismatch()) {
		return MethodDeviceToken, t, nil
	}
	return "", t, c.failed
}

// check is the look at one connect's credentials. Each wrong one is charged
// for itself: adding a second credential buys no extra guess at the first.
type check struct {
	r      *Registry
	a      *Attempt
	failed *protocol.Error // what to answer when nothing is right
}

func (c *check) try(kind class, verify func() bool, wrong *protocol.Error) bool {
	slot, wait := c.r.throttle.take(c.r.bucketOf(c.a, kind))
	if slot == nil {
		c.failed = errRateLimited(wait)
		return false
	}
	if verify() {
		slot.right()
		return true
	}
	slot.wrong()
	if c.failed == nil {
		c.failed = wrong
	}
	return false
}

// bucketOf names who is charged. The signature was checked before, so a known
// device is who it says.
func (r *Registry) bucketOf(a *Attempt, c class) bucketKey {
	if a.Params.Device != nil {
		if d := r.device(a.Params.Device.ID); d != nil && !d.revoked() {
			return bucketKey{class: c, device: d.ID}
		}
	}
	return bucketKey{class: c, source: SourceKey(a.Source), origin: a.Origin, local: a.Local}
}

// unguessable: the shared token is no word of a person, so that no number of
// tries finds it.
func (r *Registry) unguessable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.strong
}

func (r *Registry) isShared(token string) bool {
	r.mu.Lock()
	shared := r.shared
	r.mu.Unlock()
	return shared.matches(token)
}

// isDeviceToken reports whether token is the current one of the device in the
// role that it asks for. A device that is not known costs the same work.
func (r *Registry) isDeviceToken(a *Attempt, token string) bool {
	id, role, generation, valid := "", a.Params.RoleOrDefault(), 0, false
	if a.Params.Device != nil {
		if d := r.device(a.Params.Device.ID); d != nil && !d.revoked() {
			if g := d.role(role); g != nil {
				id, generation, valid = d.ID, g.Generation, true
			}
		}
	}
	right := digestOf(deviceToken(r.key, id, role, generation)).matches(token)
	return right && valid
}

// grantWithoutDevice is for clients that hold the shared token and no key.
// Only the command line and its kin on this machine get what they ask for.
func (r *Registry) grantWithoutDevice(a *Attempt) (*Grant, *protocol.Error) {
	p := a.Params
	if p.RoleOrDefault() != protocol.RoleOperator {
		return nil, errDeviceRequired()
	}
	switch p.Client.ID {
	case "openclaw-control-ui", "webchat", "webchat-ui", "openclaw-browser-copilot", "openclaw-tui":
		return nil, errBrowserDeviceRequired()
	}
	if a.Origin != "" || p.Client.Mode == "webchat" {
		return nil, errBrowserDeviceRequired()
	}
	g := &Grant{Role: protocol.RoleOperator, Method: MethodToken, Scopes: []protocol.Scope{}}
	trusted := p.Client.ID == "cli" && (p.Client.Mode == "cli" || p.Client.Mode == "probe") ||
		p.Client.ID == "hearth-tray" && p.Client.Mode == "ui" ||
		p.Client.ID == "gateway-client" && p.Client.Mode == "backend" || p.Client.ID == "openclaw-probe" && p.Client.Mode == "probe"
	if a.Local && trusted {
		g.Scopes = scopesOf(a)
	}
	return r.lease(a, g)
}

// grantDevice pairs or widens the device where that is allowed and says what
// this connection may do.
func (r *Registry) grantDevice(ctx context.Context, a *Attempt, pub ed25519.PublicKey, method string, t ticket) (*Grant, *protocol.Error) {
	id, role, asked := a.Params.Device.ID, a.Params.RoleOrDefault(), scopesOf(a)
	if method == MethodBootstrap {
		asked = slices.DeleteFunc(asked, func(s protocol.Scope) bool { return !slices.Contains(t.scopes, s) })
	}
	known := r.device(id)
	if r.needsChange(known, role, asked, method) {
		if method == MethodDeviceToken {
			return nil, errScopeMismatch(r.ask(a, pub, "scope-upgrade", asked, true))
		}
		if reason := refusal(a, known, method); reason != "" {
			return nil, errPairing(reason, r.ask(a, pub, reason, asked, false), a, known)
		}
		var err *protocol.Error
		if known, err = r.pair(ctx, a, pub, asked, method, t); err != nil {
			return nil, err
		}
	}
	own := known.role(role)
	g := &Grant{
		Role: role, Scopes: asked, Method: method, DeviceID: id, Access: string(t.access),
		DeviceToken: deviceToken(r.key, id, role, own.Generation), IssuedAtMs: own.IssuedAtMs,
	}
	if other := known.role(protocol.RoleOperator); t.setup && role == protocol.RoleNode && t.access != AccessNode && other != nil {
		g.Also = []protocol.RoleToken{{
			DeviceToken: deviceToken(r.key, id, other.Role, other.Generation), Role: other.Role, Scopes: other.Scopes, IssuedAtMs: other.IssuedAtMs,
		}}
	}
	return r.lease(a, g)
}

func (r *Registry) needsChange(known *Device, role protocol.Role, asked []protocol.Scope, method string) bool {
	if known == nil || known.revoked() || method == MethodBootstrap {
		return true
	}
	g := known.role(role)
	return g == nil || !covers(g.Scopes, asked)
}

// refusal says why a change needs a person, or "" when it does not: a launch
// link is a person's own act, and so is holding the shared token on this
// machine. A revoked device comes back only by a launch link.
func refusal(a *Attempt, known *Device, method string) string {
	switch {
	case method == MethodBootstrap:
		return ""
	case known == nil:
		if a.Local {
			return ""
		}
		return "not-paired"
	case known.revoked():
		return "revoked"
	}
	switch g := known.anyRole(a.Params.RoleOrDefault()); {
	case g != nil && g.RevokedAtMs != 0:
		return "revoked"
	case a.Local:
		return ""
	case g == nil:
		return "role-upgrade"
	}
	return "scope-upgrade"
}

// pair saves the device with the role and scopes that it asked for.
func (r *Registry) pair(ctx context.Context, a *Attempt, pub ed25519.PublicKey, asked []protocol.Scope, method string, t ticket) (*Device,
	*protocol.Error) {
	r.pairing.Lock()
	defer r.pairing.Unlock()
	known, p, now := r.device(a.Params.Device.ID), a.Params, r.now().UnixMilli()
	if known != nil && refusal(a, known, method) != "" { // revoked a moment ago
		reason := refusal(a, known, method)
		return nil, errPairing(reason, r.ask(a, pub, reason, asked, false), a, known)
	}
	d := &Device{ID: p.Device.ID, PublicKey: base64.RawURLEncoding.EncodeToString(pub), CreatedAtMs: now, ApprovedVia: viaSilent}
	if known != nil {
		d = known.clone()
	}
	if method == MethodBootstrap {
		asked = t.scopes
		d.ApprovedVia = viaLaunch
		if t.setup {
			d.ApprovedVia = viaSetup
		}
		d.revive(now)
	}
	d.ClientID, d.ClientMode, d.DisplayName = p.Client.ID, p.Client.Mode, p.Client.DisplayName
	d.Platform, d.DeviceFamily = p.Client.Platform, p.Client.DeviceFamily
	d.ApprovedAtMs, d.LastSeenAtMs = now, now
	changed := false
	for _, role := range rolesOf(a, t) {
		scopes := asked
		if role == protocol.RoleNode {
			scopes = nil
		}
		changed = d.give(role, scopes, now, true) || changed
	}
	if !changed {
		return known, nil // another connection was faster, or the link was not needed
	}
	if err := r.save(ctx, d); err != nil {
		return nil, err
	}
	r.log.Info("paired device", "device", d.ID, "client", d.ClientID, "via", d.ApprovedVia, "role", p.RoleOrDefault())
	return d, nil
}

// rolesOf are those that a connect brings: its own, and with a setup code for a
// person's device that of the person as well.
func rolesOf(a *Attempt, t ticket) []protocol.Role {
	role := a.Params.RoleOrDefault()
	if role == protocol.RoleNode && t.setup && t.access != AccessNode {
		return []protocol.Role{role, protocol.RoleOperator}
	}
	return []protocol.Role{role}
}

// lease registers the grant, unless its authority ended while it was decided.
func (r *Registry) lease(a *Attempt, g *Grant) (*Grant, *protocol.Error) {
	g.Lease = &Lease{r: r, deviceID: g.DeviceID, role: g.Role, byToken: g.Method == MethodToken, done: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.devices[g.DeviceID]; g.DeviceID != "" && (d == nil || d.revoked()) {
		return nil, errDeviceTokenMismatch()
	}
	if g.Lease.byToken && !r.shared.matches(a.Params.Auth.Token) {
		return nil, errTokenMismatch(g.DeviceID != "")
	}
	r.leases[g.Lease] = struct{}{}
	return g, nil
}

// scopesOf is what was asked, without repetitions. A node has no scopes.
func scopesOf(a *Attempt) []protocol.Scope {
	out := make([]protocol.Scope, 0, len(a.Params.Scopes))
	for _, s := range a.Params.Scopes {
		if a.Params.RoleOrDefault() == protocol.RoleOperator && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
