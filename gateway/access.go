package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net"

	"github.com/hearth-assistant/hearth/gateway/feature/status"
	"github.com/hearth-assistant/hearth/gateway/inbound/contact"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/pairing/admission"
	"github.com/hearth-assistant/hearth/gateway/pairing/token"
	"github.com/hearth-assistant/hearth/gateway/reach"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/statedir"
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
}

// openAccess opens the port, which is served when everything stands, and what knows
// who may come. leaving says why the server ends, when it does.
func openAccess(ctx context.Context, b *base, ends *teardown.Stack, leaving func() server.Leaving) (a *access, err error) {
	a = &access{contacts: contact.New(b.store, b.Now, rand.Reader)}
	port := cmp.Or(b.Port, reach.Section.Of(b.config.Snapshot().Config).Port)
	if a.ln, err = server.Listen(ctx, port); err != nil {
		return nil, cannot(fmt.Sprintf("Port %d on this machine cannot be used", cmp.Or(port, server.DefaultPort)), err,
			"Stop the program that holds it, or choose another port with gateway.port or --port")
	}
	ends.Plain(func() { _ = a.ln.Close() })
	// What was taken away, which an older copy of the store, put back, does not know.
	removed, aside, err := store.OpenBeside(b.Dir.Removed())
	if err != nil {
		return nil, cannot("The list of removed devices cannot be used", err,
			"Mend its permissions; without it a restored copy of the database would let them in again")
	}
	if aside != "" {
		b.Logger.Warn("the list of removed devices was damaged and is made anew from the store", "old", aside)
	}
	if err := a.openPairing(ctx, b, removed); err != nil {
		return nil, err
	}
	people, err := a.contacts.Recall(ctx, store.NewBesideShelf(removed, "people", contact.RemovedID))
	if err != nil {
		return nil, cannot("The people who were removed could not be read", err,
			"Remove "+b.Dir.Removed()+" if you know that the database is no older copy")
	}
	b.problems.Note(admission.Recalled(a.pairing, a.clients, people, b.audit)...)
	a.server, err = server.New(server.Options{
		Auth: admission.Audited{Registry: a.pairing, Log: b.audit}, Pages: b.Pages, Version: b.Version, BootID: b.bootID, Logger: b.Logger,
		Now: b.Now, Ready: status.Ready(b.store, b.Dir), Broken: b.incidents.Broke, Leaving: leaving,
		Origins: func() []string { return reach.Section.Of(b.config.Snapshot().Config).Origins },
	})
	return a, err
}

// openPairing opens what knows the devices and programs that may come in.
func (a *access) openPairing(ctx context.Context, b *base, removed *store.Beside) error {
	shared, now, err := token.Open(ctx, b.Dir.Token(), b.config, b.secrets, b.Logger)
	if err != nil {
		return cannot("The gateway's access token cannot be used", err, "Remove the file to get a new one")
	}
	key, err := statedir.Key(b.Dir.DeviceKey(), 32)
	if err != nil {
		return cannot("The key of paired devices cannot be used", err,
			"Remove "+b.Dir.DeviceKey()+"; paired browsers then need a new link from `hearth open`")
	}
	device := func(d pairing.Device) string { return d.ID }
	a.pairing, err = pairing.New(ctx, pairing.Options{
		SharedToken: now, ServerKey: key, Store: store.NewShelf(b.store, "devices", device),
		Removed: store.NewBesideShelf(removed, "devices", device), Now: b.Now, Logger: b.Logger,
	})
	if err != nil {
		return cannot("The paired devices could not be read", err, restoreStore)
	}
	shared.Follow(a.pairing.SetSharedToken, b.Logger)
	program := func(c pairing.Client) string { return c.ID }
	a.clients, err = pairing.NewClients(ctx, pairing.ClientOptions{
		Store: store.NewShelf(b.store, "clients", program), Removed: store.NewBesideShelf(removed, "clients", program), Now: b.Now,
		Logger: b.Logger,
	})
	if err != nil {
		return cannot("The tokens of other programs could not be read", err, restoreStore)
	}
	a.door = admission.NewDoor(a.clients, b.audit)
	return nil
}

// url is where the gateway listens, and port the port of that.
func (a *access) url() string { return "http://" + a.ln.Addr().String() }

func (a *access) port() int { return a.ln.Addr().(*net.TCPAddr).Port }
