package pairing

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// Options of a Registry. Now, Random and Logger have working zero values.
type Options struct {
	// SharedToken is gateway.auth.token. Only its digest is kept.
	SharedToken string
	// ServerKey derives device tokens; 32 random bytes, the same at every start.
	ServerKey []byte
	Store     Store
	// Removed keeps, apart from Store, what was taken away, so that an older copy of
	// Store gives nothing back. Optional.
	Removed Store
	Now     func() time.Time
	Random  io.Reader
	Logger  *slog.Logger
	// OnPair is told who asks to be let in and what a person decided. Optional.
	OnPair func(PairEvent)
}

// Registry is the authority on who may connect. Its methods may be called at
// the same time.
type Registry struct {
	watching []func(deviceID string) // see WatchRemoved

	base
	store    Store
	removed  Store // nil: none
	recalled int
	key      []byte
	onPair   func(PairEvent)

	verifying sync.Mutex // held while a signature is checked
	verify    func(p *protocol.ConnectParams, nonce string, nowMs int64) (ed25519.PublicKey, *protocol.Error)

	// pairing is held while a device is changed and saved, so that two changes
	// of one device cannot overwrite each other. It is taken before mu.
	pairing sync.Mutex

	mu      sync.Mutex // guards all below; never held over I/O
	shared  digest
	strong  bool                 // shared cannot be guessed
	devices map[string]*Device   // values are replaced, never changed
	tickets []ticket             // oldest first
	waiting []*waiting           // for a person, oldest first
	refused map[string]time.Time // devices that a person said no to, until then
	leases  map[*Lease]struct{}
}

// New loads the paired devices.
func New(ctx context.Context, o Options) (*Registry, error) {
	switch {
	case o.SharedToken == "":
		return nil, errors.New("the gateway has no token; set gateway.auth.token or remove it to get a new one")
	case len(o.ServerKey) < 32:
		return nil, errors.New("the gateway's device key is shorter than 32 bytes")
	case o.Store == nil:
		return nil, errors.New("pairing needs a store")
	}
	r := &Registry{
		base: newBase(o.Now, o.Random, o.Logger), store: o.Store, removed: o.Removed, verify: protocol.VerifyDevice,
		key: slices.Clone(o.ServerKey), onPair: o.OnPair,
		shared: digestOf(o.SharedToken), strong: strong(o.SharedToken), devices: make(map[string]*Device), leases: make(map[*Lease]struct{}),
		refused: make(map[string]time.Time),
	}
	if r.onPair == nil {
		r.onPair = func(PairEvent) {}
	}
	devices, err := r.store.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("load paired devices: %w", err)
	}
	for i := range devices {
		r.devices[devices[i].ID] = devices[i].clone()
	}
	return r, r.recall(ctx)
}

// Attempt is one connect as the server saw it.
type Attempt struct {
	Source netip.Addr // the peer address of the kernel, nothing from a header
	Origin string     // as sent by a browser, "" from others
	Local  bool       // this machine, reached directly
	Nonce  string     // the challenge of this socket
	Params *protocol.ConnectParams
}

// Grant is what a connection may do, for as long as its Lease holds.
type Grant struct {
	Role        protocol.Role
	Scopes      []protocol.Scope
	Method      string // token, device-token, bootstrap-token
	DeviceID    string
	DeviceToken string
	IssuedAtMs  int64
	// Access is what a setup code gave with which the device came just now, and
	// Also the tokens of the other roles that it gave.
	Access string
	Also   []protocol.RoleToken
	Lease  *Lease
}

// Lease ends when the authority behind a grant does. The server closes the
// socket then and releases every lease of a socket that is gone.
type Lease struct {
	r        *Registry
	deviceID string
	role     protocol.Role
	byToken  bool
	done     chan struct{}
	reason   string // set before done is closed
}

// Ended is closed when the authority ended; Reason then tells why.
func (l *Lease) Ended() <-chan struct{} { return l.done }

// Reason is the close reason that clients know. It is valid once Ended is closed.
func (l *Lease) Reason() string { return l.reason }

// Release forgets the lease.
func (l *Lease) Release() {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	delete(l.r.leases, l)
}

// endLeases ends those that match; mu is held.
func (r *Registry) endLeases(reason string, match func(*Lease) bool) {
	for l := range r.leases {
		if match(l) {
			delete(r.leases, l)
			l.reason = reason
			close(l.done)
		}
	}
}

// Devices returns the paired devices, revoked ones included, in no order.
func (r *Registry) Devices() []Device {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Device, 0, len(r.devices))
	for _, d := range r.devices {
		out = append(out, *d.clone())
	}
	return out
}

// WatchRemoved has f called when a device is removed, so that what others keep for it goes
// too; it must not call the registry. It is called before the first connection.
func (r *Registry) WatchRemoved(f func(deviceID string)) { r.watching = append(r.watching, f) }

func (r *Registry) removing(deviceID string) {
	for _, f := range r.watching {
		f(deviceID)
	}
}

// Revoke takes a device's authority away: durably, for new connections and for
// the open ones. It is not an error to revoke twice.
func (r *Registry) Revoke(ctx context.Context, deviceID string) error {
	r.pairing.Lock()
	defer r.pairing.Unlock()
	known := r.device(deviceID)
	if known == nil {
		return fmt.Errorf("device %s: %w", deviceID, ErrNoDevice)
	}
	if known.revoked() {
		return nil
	}
	// Before its connection ends, so that its end finds nothing to keep; and afterwards,
	// in case that it came back in between.
	r.removing(deviceID)
	defer r.removing(deviceID)
	d := known.clone()
	d.RevokedAtMs = r.now().UnixMilli()
	for i := range d.Roles {
		d.Roles[i].Generation++ // even a fresh approval must not revive the old tokens
	}
	// The open sockets end even when the disk does not take the change.
	r.mu.Lock()
	r.devices[d.ID] = d
	r.endLeases("device removed", func(l *Lease) bool { return l.deviceID == deviceID })
	r.mu.Unlock()
	if err := r.takeAway(ctx, d); err != nil {
		return fmt.Errorf("save the revocation of device %s: %w", deviceID, err)
	}
	return nil
}

// SetSharedToken replaces the shared token and ends what the old one opened.
func (r *Registry) SetSharedToken(token string) error {
	if token == "" {
		return errors.New("the gateway's token must not be empty")
	}
	next := digestOf(token)
	r.mu.Lock()
	defer r.mu.Unlock()
	if next == r.shared {
		return nil
	}
	r.shared, r.strong = next, strong(token)
	r.endLeases("gateway auth changed", func(l *Lease) bool { return l.byToken })
	return nil
}

func (r *Registry) device(id string) *Device {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.devices[id]
}

// save makes d durable, then visible; pairing is held.
func (r *Registry) save(ctx context.Context, d *Device) *protocol.Error {
	if err := r.store.Save(ctx, *d); err != nil {
		r.log.Error("save paired device", "device", d.ID, "error", err)
		return errStore()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.devices[d.ID] = d
	return nil
}

// Observe has somebody hear who asks to be let in and what a person decided,
// instead of who was named in the Options. It is called before anybody asks.
func (r *Registry) Observe(hear func(PairEvent)) { r.onPair = hear }
