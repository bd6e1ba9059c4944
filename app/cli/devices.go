package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

func newDevices(a *app) *cobra.Command {
	list := func(ctx context.Context, _ []string) error { return listDevices(ctx, a) }
	c := group("devices", "See which devices are paired, and take one's access away",
		&cobra.Command{Use: "list", Short: "List the paired devices", Args: cobra.NoArgs, RunE: a.run(list)},
		&cobra.Command{Use: "remove ID", Short: "End a device's access at once; the beginning of its id is enough", Args: cobra.ExactArgs(1),
			RunE: a.run(func(ctx context.Context, args []string) error { return removeDevice(ctx, a, args[0]) })},
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
	if len(res.Paired) == 0 {
		return a.out().print("No device is paired. `hearth open` pairs a browser here, `hearth qr` a device elsewhere.\n")
	}
	var rows [][]string
	for _, d := range res.Paired {
		now := ""
		if d.Connected {
			now = "connected"
		}
		rows = append(rows, []string{d.DeviceID[:min(12, len(d.DeviceID))], d.ApprovedVia, stamp(d.ApprovedAtMs), now, strings.Join(rights(d.Scopes), " "), deviceName(d)})
	}
	return a.out().table([]string{"ID", "BY", "SINCE", "NOW", "MAY", "NAME"}, rows)
}

// deviceName is what a device calls itself, which proves nothing.
func deviceName(d protocol.PairedDevice) string {
	name := d.DisplayName
	if name == "" {
		name = d.ClientID
	}
	return clip(line(strings.TrimSpace(name+" "+d.Platform)), 60)
}

func removeDevice(ctx context.Context, a *app, id string) error {
	c, err := a.dial(ctx, client.Options{Scopes: []protocol.Scope{protocol.ScopePairing}})
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
		return &failure{exitFailure, count(len(hits), "device") + " has an id that begins with " + line(id), "`hearth devices` lists them; give at least four digits, and as many as it takes"}
	}
	var done protocol.PairRemoveResult
	if err := c.Call(ctx, protocol.MethodPairRemove, protocol.PairRemoveParams{DeviceID: hits[0].DeviceID}, &done); err != nil {
		return err
	}
	return a.done(done, "Removed: "+deviceName(hits[0])+". It is cut off now, and stays out until you pair it again.")
}
