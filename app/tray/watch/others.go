package watch

import (
	"cmp"
	"time"

	"github.com/hearth-assistant/hearth/app/tray/menu"
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
