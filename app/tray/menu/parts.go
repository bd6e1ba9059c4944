package menu

import (
	"fmt"
	"time"

	"github.com/hearth-assistant/hearth/frontend/src/i18n"
)

// planned is what Hearth does next by itself.
func planned(s State, w *i18n.Words, now time.Time) Item {
	at := s.Next.At
	return Item{
		ID: "planned", Label: w.Say("next", "time", w.Clock(at, now), "what", short(s.Next.Name, 40)), Do: Action{Settings, "schedules"},
		Hidden: s.Link != Ready || at.IsZero(),
	}
}

// atWork is what is done in the background.
func atWork(s State, w *i18n.Words) Item {
	title := short(s.Tasks.Title, 40)
	label := w.Say("work", "what", title)
	switch {
	case s.Tasks.N > 1:
		label = w.Say("work.tasks", "n", s.Tasks.N)
	case s.Tasks.Percent >= 0:
		label = w.Say("work.part", "what", title, "n", s.Tasks.Percent)
	}
	return Item{ID: "tasks", Label: label, Do: Action{Settings, "tasks"}, Hidden: s.Link != Ready || s.Tasks.N == 0}
}

func spend(s State, w *i18n.Words) Item {
	sum := money(s.Today, s.Currency)
	label := w.Say("today", "sum", sum)
	if s.Limit > 0 {
		label = w.Say("today.of", "sum", sum, "limit", money(s.Limit, s.Currency), "gauge", gauge(s.Today/s.Limit))
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
		Item{ID: "spend-once", Label: w.Say("spend.once"), Do: Action{Verb: Allow}, Hidden: !s.Used},
		Item{ID: "spend-limit", Label: w.Say("spend.limit"), Do: Action{Settings, "usage"}})
	return top
}

func devices(s State, w *i18n.Words, now time.Time) Item {
	top := Item{ID: "devices", Label: w.Say("devices"), Off: s.Link != Ready}
	if s.Pending > 0 {
		top.Label = w.Say("devices.asking", "n", s.Pending)
	}
	for i := range DeviceSlots {
		row := Item{ID: fmt.Sprintf("device%d", i), Do: Action{Settings, "people"}, Hidden: true}
		if i < len(s.Devices) {
			d := s.Devices[i]
			row.Hidden, row.Label = false, "● "+short(d.Name, 40)
			if !d.On {
				row.Label = "○ " + short(d.Name, 40)
				if !d.Seen.IsZero() {
					row.Label += "  ·  " + age(w, now.Sub(d.Seen))
				}
			}
		}
		top.Sub = append(top.Sub, row)
	}
	top.Sub = append(
		top.Sub,
		Item{ID: "device-more", Label: w.Say("devices.more", "n", len(s.Devices)-DeviceSlots), Do: Action{Settings, "people"},
			Hidden: len(s.Devices) <= DeviceSlots},
		Item{
			ID:     "device-ask",
			Label:  w.Say("devices.ask", "n", s.Pending),
			Do:     Action{Settings, "people"},
			Hidden: s.Pending == 0,
		},
		Item{ID: "device-pair", Label: w.Say("devices.pair"), Do: Action{Settings, "people"}},
		Item{ID: "device-copy", Label: w.Say("devices.copy"), Do: Action{CopyAddr, s.Address}, Hidden: s.Address == ""},
		Item{ID: "device-alone", Label: w.Say("devices.alone"), Do: Action{Settings, "network"}, Hidden: s.Address != ""},
	)
	return top
}

func pauses(s State, w *i18n.Words) Item {
	if s.Paused != "" {
		return Item{ID: "pause", Label: w.Say("resume"), Sub: []Item{
			{ID: "resume", Label: w.Say("resume.now"), Do: Action{Verb: Resume}},
			{ID: "p-hour", Hidden: true}, {ID: "p-day", Hidden: true}, {ID: "p-tools", Hidden: true}, {ID: "p-net", Hidden: true},
		}}
	}
	return Item{ID: "pause", Label: w.Say("pause"), Off: s.Link != Ready, Sub: []Item{
		{ID: "resume", Hidden: true},
		{ID: "p-hour", Label: w.Say("pause.hour"), Do: Action{Verb: PauseHour}},
		{ID: "p-day", Label: w.Say("pause.day"), Do: Action{Verb: PauseDay}},
		{ID: "p-tools", Label: w.Say("pause.tools"), Do: Action{Verb: PauseTools}},
		{ID: "p-net", Label: w.Say("pause.network"), Do: Action{Verb: PauseNet}},
	}}
}
