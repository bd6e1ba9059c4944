package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"net"

	"github.com/hearth-assistant/hearth/gateway/feature/status"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pairing/admission"
	"github.com/hearth-assistant/hearth/gateway/pairing/token"
	"github.com/hearth-assistant/hearth/gateway/reach"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/startup"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/gateway/teardown"
)

// access is who may come in, and where.
type access struct {
	ln       net.Listener
	pairing  *pairing.Registry
	clients  *pairing.Clients // other programs
	door     *admission.Door  // where they come in
	contacts *contact.Book    // people on messaging networks
	server   *server.Server
	away     absent // people who are not connected
}

// absent are the people who are told of events without being connected.
type absent interface {
	// Hears reports whether one of them would be told of an event now.
	Hears(event string) bool
	// Removed is told of a device that may not read any more.
	Removed(ctx context.Context, deviceID string) error
}

// noAbsent is where nobody is told: the feature push is off.
type noAbsent struct{}

func (noAbsent) Hears(string) bool { return false }

func (noAbsent) Removed(context.Context, string) error { return nil }

// Hears reports whether somebody would get an event now: connected, or by a
// notification.
func (a *access) Hears(event string) bool {
	return a.server.Hears(event) || a.away.Hears(event)
}

// Broadcast sends an event to the connected clients.
func (a *access) Broadcast(b server.Broadcast) { a.server.Broadcast(b) }

// removed is told of a device that may not read any more.
func (a *access) removed(ctx context.Context, deviceID string) error {
	return a.away.Removed(ctx, deviceID)
}

// openAccess opens the port, which is served when everything stands, and what knows
// who may come. leaving says why the server ends, when it does.
func openAccess(ctx context.Context, b *base, ends *teardown.Stack, leaving func() server.Leaving) (a *access, err error) {
	a = &access{contacts: contact.New(b.store, b.Now, rand.Reader), away: noAbsent{}}
	port := cmp.Or(b.Port, reach.Section.Of(b.config.Snapshot().Config).Port)
	if a.ln, err = server.Listen(ctx, port); err != nil {
		return nil, startup.NoPort(cmp.Or(port, server.DefaultPort), err)
	}
	ln := a.ln // a is nil when what follows fails
	ends.Plain(func() { _ = ln.Close() })
	if err := a.openPairing(ctx, b); err != nil {
		return nil, err
	}
	a.server, err = server.New(server.Options{
		Auth: admission.Audited{Registry: a.pairing, Log: b.audit}, Pages: b.Pages, Version: b.Version, BootID: b.bootID, Logger: b.Logger,
		Now: b.Now, Ready: status.Ready(b.store, b.Dir), Broken: b.incidents.Broke, Leaving: leaving,
		Origins: func() []string { return reach.Section.Of(b.config.Snapshot().Config).Origins },
	})
	return a, err
}

// openPairing opens what knows who may come in.
func (a *access) openPairing(ctx context.Context, b *base) error {
	shared, now, err := token.Open(ctx, b.Dir.Token(), b.config, b.secrets, b.Logger)
	if err != nil {
		return startup.Cannot("The gateway's access token cannot be used", err, "Remove the file to get a new one")
	}
	known, err := admission.Open(ctx, admission.Options{
		Dir: b.Dir, Store: b.store, SharedToken: now, Audit: b.audit, Now: b.Now, Logger: b.Logger,
		Recall: func(removed *store.SideFile) (int, error) {
			return a.contacts.Recall(ctx, store.NewSideTable(removed, "people", contact.RemovedID))
		},
	})
	if err != nil {
		return err
	}
	shared.Follow(known.Devices.SetSharedToken, b.Logger)
	b.problems.Note(known.Problems...)
	a.pairing, a.clients, a.door = known.Devices, known.Programs, admission.NewDoor(known.Programs, b.audit)
	return nil
}

// url is where the gateway listens, and port the port of that.
func (a *access) url() string { return "http://" + a.ln.Addr().String() }

func (a *access) port() int { return a.ln.Addr().(*net.TCPAddr).Port }
