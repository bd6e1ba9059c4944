package menu

import (
	"fmt"
	"time"
)

// planned is what Hearth does next by itself.
func planned(s State, now time.Time) Item {
	at := s.Next.At
	clock := at.Format("15:04")
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch {
	case at.Before(midnight.AddDate(0, 0, 1)):
	case at.Before(midnight.AddDate(0, 0, 7)):
		clock = at.Format("Mon 15:04")
	default:
		clock = at.Format("2 Jan 15:04")
	}
	return Item{
		ID: "planned", Label: "Next  " + clock + "  " + short(s.Next.Name, 40), Do: Action{Settings, "schedules"},
		Hidden: s.Link != Ready || at.IsZero(),
	}
}

// atWork is what is done in the background.
func atWork(s State) Item {
	label := "At work  " + short(s.Tasks.Title, 40)
	switch {
	case s.Tasks.N > 1:
		label = fmt.Sprintf("At work  %d tasks", s.Tasks.N)
	case s.Tasks.Percent >= 0:
		label += fmt.Sprintf("  %d %%", s.Tasks.Percent)
	}
	return Item{ID: "tasks", Label: label, Do: Action{Settings, "tasks"}, Hidden: s.Link != Ready || s.Tasks.N == 0}
}

func spend(s State) Item {
	label := fmt.Sprintf("Today  %s", money(s.Today, s.Currency))
	if s.Limit > 0 {
		label = fmt.Sprintf("Today  %s of %s  %s", money(s.Today, s.Currency), money(s.Limit, s.Currency), gauge(s.Today/s.Limit))
	}
	top := Item{ID: "spend", Label: label, Off: s.Link != Ready}
	for i := range SpentSlots {
		row := Item{ID: fmt.Sprintf("spent%d", i), Off: true, Hidden: true}
		if i < len(s.Spent) {
			row.Label, row.Hidden = short(s.Spent[i].Model, 50)+"  "+money(s.Spent[i].Amount, s.Currency), false
		}
		top.Sub = append(top.Sub, row)
	}
	top.Sub = append(top.Sub,
		Item{ID: "spend-once", Label: "Let one answer go beyond the allowance", Do: Action{Verb: Allow}, Hidden: !s.Used},
		Item{ID: "spend-limit", Label: "By chat and person, change the limit…", Do: Action{Settings, "usage"}})
	return top
}

func devices(s State, now time.Time) Item {
	top := Item{ID: "devices", Label: "Devices", Off: s.Link != Ready}
	if s.Pending > 0 {
		top.Label = fmt.Sprintf("Devices (%d asking)", s.Pending)
	}
	for i := range DeviceSlots {
		row := Item{ID: fmt.Sprintf("device%d", i), Do: Action{Settings, "people"}, Hidden: true}
		if i < len(s.Devices) {
			d := s.Devices[i]
			row.Hidden, row.Label = false, "● "+short(d.Name, 40)
			if !d.On {
				row.Label = "○ " + short(d.Name, 40)
				if !d.Seen.IsZero() {
					row.Label += "  ·  " + age(now.Sub(d.Seen))
				}
			}
		}
		top.Sub = append(top.Sub, row)
	}
	top.Sub = append(
		top.Sub,
		Item{ID: "device-more", Label: fmt.Sprintf("%d more…", len(s.Devices)-DeviceSlots), Do: Action{Settings, "people"},
			Hidden: len(s.Devices) <= DeviceSlots},
		Item{
			ID:     "device-ask",
			Label:  fmt.Sprintf("%d asking to be let in…", s.Pending),
			Do:     Action{Settings, "people"},
			Hidden: s.Pending == 0,
		},
		Item{ID: "device-pair", Label: "Pair a device…", Do: Action{Settings, "people"}},
		Item{ID: "device-copy", Label: "Copy address", Do: Action{CopyAddr, s.Address}, Hidden: s.Address == ""},
		Item{ID: "device-alone", Label: "Only this computer reaches Hearth…", Do: Action{Settings, "network"}, Hidden: s.Address != ""},
	)
	return top
}

func pauses(s State) Item {
	if s.Paused != "" {
		return Item{ID: "pause", Label: "Resume", Sub: []Item{
			{ID: "resume", Label: "Resume now", Do: Action{Verb: Resume}},
			{ID: "p-hour", Hidden: true}, {ID: "p-day", Hidden: true}, {ID: "p-tools", Hidden: true}, {ID: "p-net", Hidden: true},
		}}
	}
	return Item{ID: "pause", Label: "Pause", Off: s.Link != Ready, Sub: []Item{
		{ID: "resume", Hidden: true},
		{ID: "p-hour", Label: "Everything, for an hour", Do: Action{Verb: PauseHour}},
		{ID: "p-day", Label: "Everything, until tomorrow", Do: Action{Verb: PauseDay}},
		{ID: "p-tools", Label: "Tools only", Do: Action{Verb: PauseTools}},
		{ID: "p-net", Label: "Network only", Do: Action{Verb: PauseNet}},
	}}
}
