package watch

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/app/tray/menu"
	"github.com/hearth-assistant/hearth/gateway/client"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// others fills in what other machines have to do with Hearth, and the models'
// part of what was spent.
func others(s *menu.State, cost protocol.UsageCost, devices protocol.PairedDevices, reach protocol.ReachStatus) {
	if cost.Hearth != nil {
		for _, g := range cost.Hearth.Groups {
			if g.TotalCost > 0 && len(s.Spent) < menu.SpentSlots {
				s.Spent = append(s.Spent, menu.Spent{Model: g.Name, Amount: g.TotalCost})
			}
		}
	}
	s.Pending = len(devices.Pending)
	for _, d := range devices.Paired {
		// Browsers and programs of this computer let themselves in.
		if d.ApprovedVia == "silent" || d.ApprovedVia == "launch" {
			continue
		}
		m := menu.Device{Name: cmp.Or(d.DisplayName, d.ClientID, "a device"), On: d.Connected}
		if d.LastSeenAtMs > 0 {
			m.Seen = time.UnixMilli(d.LastSeenAtMs)
		}
		s.Devices = append(s.Devices, m)
	}
	if len(reach.Addresses) > 0 {
		s.Address = reach.Addresses[0]
	}
}

// asking are the devices that wait for a yes, oldest first.
func asking(list []protocol.PairRequest) []menu.Door {
	slices.SortStableFunc(list, func(a, b protocol.PairRequest) int { return cmp.Compare(a.TS, b.TS) })
	out := make([]menu.Door, 0, len(list))
	for _, r := range list {
		d := menu.Door{ID: r.RequestID, Name: cmp.Or(r.DisplayName, r.ClientID, "a device"), From: r.RemoteIP}
		if r.Code != "" {
			d.Code = protocol.ShownCode(r.Code)
		}
		var rights []string
		for _, s := range r.Scopes {
			rights = append(rights, strings.TrimPrefix(string(s), "operator."))
		}
		switch {
		case r.Role == protocol.RoleNode:
			d.May = "be used by Hearth, as far as you allow it"
		case r.Code != "": // what the gateway gives when nothing else is said
			d.May = "talk, read and decide about requests, and change no settings"
		case len(rights) > 0:
			d.May = "have these rights: " + strings.Join(rights, ", ")
		}
		out = append(out, d)
	}
	return out
}

// next is what is planned next. A gateway whose schedules are switched off has
// nothing to say, and that is no trouble.
func next(ctx context.Context, c *client.Client) (j menu.Job) {
	one := 1
	var list protocol.CronList
	if err := c.Call(ctx, protocol.MethodCronList, protocol.CronListParams{Limit: &one, Compact: true}, &list); err != nil {
		return j
	}
	for i := range list.Jobs {
		if at := list.Jobs[i].State.NextRunAtMs; at > 0 {
			j = menu.Job{Name: cmp.Or(list.Jobs[i].DisplayName, list.Jobs[i].Name), At: time.UnixMilli(at)}
		}
	}
	return j
}

// atWork is what works in the background; with the switch of tasks off, nothing.
func atWork(ctx context.Context, c *client.Client) (t menu.Tasks) {
	var list protocol.TaskViews
	p := protocol.TasksListParams{Status: protocol.TaskStatuses{protocol.TaskQueued, protocol.TaskRunning}}
	if err := c.Call(ctx, protocol.MethodTaskViews, p, &list); err != nil || len(list.Tasks) == 0 {
		return t
	}
	first := list.Tasks[len(list.Tasks)-1]
	t = menu.Tasks{N: len(list.Tasks), Title: first.Title, Percent: -1}
	if h := first.Hearth; h.Total > 0 {
		const whole = 100
		t.Percent = int(min(h.Done*whole/h.Total, whole))
	}
	return t
}
