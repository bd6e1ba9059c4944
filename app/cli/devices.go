package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/internal/text"
)

func newDevices(a *app) *cobra.Command {
	list := func(ctx context.Context, _ []string) error { return listDevices(ctx, a) }
	one := func(f func(context.Context, *app, string) error) func(*cobra.Command, []string) error {
		return a.run(func(ctx context.Context, args []string) error { return f(ctx, a, args[0]) })
	}
	c := group("devices", "See which devices are paired or ask to be, and decide",
		&cobra.Command{Use: "list", Short: "List the devices that ask to be let in, and the paired ones", Args: cobra.NoArgs, RunE: a.run(list)},
		newApprove(a),
		&cobra.Command{Use: "reject ID", Short: "Say no to a device that asks", Args: cobra.ExactArgs(1), RunE: one(rejectDevice)},
		&cobra.Command{Use: "remove ID", Short: "End a device's access at once; the beginning of its id is enough", Args: cobra.ExactArgs(1),
			RunE: one(removeDevice)},
		&cobra.Command{Use: "rename ID NAME", Short: "Call a device something else", Args: cobra.ExactArgs(2),
			RunE: a.run(func(ctx context.Context, args []string) error { return renameDevice(ctx, a, args[0], args[1]) })},
		&cobra.Command{Use: "rotate ID", Short: "Make a device's token worthless; it needs to be paired again, unless it knows another way in",
			Args: cobra.ExactArgs(1), RunE: one(rotateDevice)},
	)
	c.RunE = a.run(list)
	return c
}

func listDevices(ctx context.Context, a *app) error {
	var res protocol.PairedDevices
	if err := a.call(ctx, protocol.ScopePairing, protocol.MethodPairList, nil, &res); err != nil {
		return err
	}
	if a.asJSON {
		return a.out().json(res)
	}
	if len(res.Pending) > 0 {
		if err := a.printWaiting(res.Pending); err != nil {
			return err
		}
	}
	if len(res.Paired) == 0 {
		return a.out().print("No device is paired. `hearth open` pairs a browser here, `hearth qr` a device elsewhere.\n")
	}
	var rows [][]string
	for _, d := range res.Paired {
		now := ""
		if d.Connected {
			now = "connected"
		}
		rows = append(rows, []string{d.DeviceID[:min(12, len(d.DeviceID))], d.ApprovedVia, stamp(d.ApprovedAtMs), now,
			strings.Join(rights(d.Scopes), " "), deviceName(d)})
	}
	return a.out().table([]string{"ID", "BY", "SINCE", "NOW", "MAY", "NAME"}, rows)
}

// deviceName is what a device calls itself, which proves nothing.
func deviceName(d protocol.PairedDevice) string {
	name := d.DisplayName
	if name == "" {
		name = d.ClientID
	}
	return text.Ellipsis(line(strings.TrimSpace(name+" "+d.Platform)), 60)
}

// withDevice finds a paired device by the beginning of its id.
func withDevice(ctx context.Context, a *app, id string, do func(*client.Client, protocol.PairedDevice) error,
	scopes ...protocol.Scope) error {
	c, err := a.dial(ctx, client.Options{Scopes: append(scopes, protocol.ScopePairing)})
	if err != nil {
		return err
	}
	defer c.Close()
	var res protocol.PairedDevices
	if err := c.Call(ctx, protocol.MethodPairList, nil, &res); err != nil {
		return err
	}
	var hits []protocol.PairedDevice
	for _, d := range res.Paired {
		if len(id) >= 4 && strings.HasPrefix(d.DeviceID, strings.ToLower(id)) {
			hits = append(hits, d)
		}
	}
	if len(hits) != 1 {
		if len(hits) == 0 {
			return &failure{exitFailure, "no device has an id that begins with " + line(id),
				"`hearth devices` lists them; give at least four digits, and as many as it takes"}
		}
		return &failure{exitFailure, count(len(hits), "device") + " have an id that begins with " + line(id),
			"`hearth devices` lists them; give at least four digits, and as many as it takes"}
	}
	return do(c, hits[0])
}

func removeDevice(ctx context.Context, a *app, id string) error {
	return withDevice(ctx, a, id, func(c *client.Client, d protocol.PairedDevice) error {
		var done protocol.PairRemoveResult
		if err := c.Call(ctx, protocol.MethodPairRemove, protocol.PairRemoveParams{DeviceID: d.DeviceID}, &done); err != nil {
			return err
		}
		return a.done(done, "Removed: "+deviceName(d)+". It is cut off now, and stays out until you pair it again.")
	})
}

func renameDevice(ctx context.Context, a *app, id, name string) error {
	return withDevice(ctx, a, id, func(c *client.Client, d protocol.PairedDevice) error {
		var done protocol.PairRenamed
		if err := c.Call(ctx, protocol.MethodPairRename, protocol.PairRenameParams{DeviceID: d.DeviceID, Label: name}, &done); err != nil {
			return err
		}
		return a.done(done, "It is called "+line(name)+" now.")
	})
}

func rotateDevice(ctx context.Context, a *app, id string) error {
	return withDevice(ctx, a, id, func(c *client.Client, d protocol.PairedDevice) error {
		all := []protocol.DeviceTokenRotated{}
		for _, role := range d.Roles {
			var one protocol.DeviceTokenRotated
			if err := c.Call(ctx, protocol.MethodTokenRotate, protocol.DeviceTokenParams{DeviceID: d.DeviceID, Role: role}, &one); err != nil {
				return err
			}
			one.Token = "" // it is nobody's here
			all = append(all, one)
		}
		return a.done(map[string]any{"tokens": all}, "The token of "+deviceName(d)+" opens nothing any more, and its connections were ended.")
	}, protocol.ScopeAdmin)
}
