package admission

import (
	"context"
	"log/slog"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/startup"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Options say where it is kept who may come in. All are needed.
type Options struct {
	Dir         statedir.Dir
	Store       *store.DB
	SharedToken string // of the programs of this user
	Audit       *audit.Log
	Now         func() time.Time
	Logger      *slog.Logger
	// Recall takes the people out again who were removed, and says how many that are.
	Recall func(removed *store.SideFile) (people int, err error)
}

// Known is who may come in: devices, and other programs by their tokens.
type Known struct {
	Devices  *pairing.Registry
	Programs *pairing.Clients
	Problems []protocol.Problem // that a person should know about
}

// Open reads who may come in. Whoever was removed stays out, also when the store is an
// older copy of itself. An error is a *startup.Error.
func Open(ctx context.Context, o Options) (k *Known, err error) {
	removed, aside, err := store.OpenSideFile(o.Dir.Removed())
	if err != nil {
		return nil, startup.Cannot("The list of removed devices cannot be used", err,
			"Mend its permissions; without it a restored copy of the database would let them in again")
	}
	if aside != "" {
		o.Logger.Warn("the list of removed devices was damaged and is made anew from the store", "old", aside)
	}
	key, err := statedir.Key(o.Dir.DeviceKey(), 32)
	if err != nil {
		return nil, startup.Cannot("The key of paired devices cannot be used", err,
			"Remove "+o.Dir.DeviceKey()+"; paired browsers then need a new link from `hearth open`")
	}
	k = new(Known)
	device := func(d pairing.Device) string { return d.ID }
	k.Devices, err = pairing.New(ctx, pairing.Options{
		SharedToken: o.SharedToken, ServerKey: key, Store: store.NewSmallTable(o.Store, "devices", device),
		Removed: store.NewSideTable(removed, "devices", device), Now: o.Now, Logger: o.Logger,
	})
	if err != nil {
		return nil, startup.Cannot("The paired devices could not be read", err, startup.RestoreStore)
	}
	program := func(c pairing.Client) string { return c.ID }
	k.Programs, err = pairing.NewClients(ctx, pairing.ClientOptions{
		Store: store.NewSmallTable(o.Store, "clients", program), Removed: store.NewSideTable(removed, "clients", program), Now: o.Now,
		Logger: o.Logger,
	})
	if err != nil {
		return nil, startup.Cannot("The tokens of other programs could not be read", err, startup.RestoreStore)
	}
	people, err := o.Recall(removed)
	if err != nil {
		return nil, startup.Cannot("The people who were removed could not be read", err,
			"Remove "+o.Dir.Removed()+" if you know that the database is no older copy")
	}
	k.Problems = Recalled(k.Devices, k.Programs, people, o.Audit)
	return k, nil
}
