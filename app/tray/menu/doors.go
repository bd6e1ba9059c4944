package menu

import (
	"fmt"

	"github.com/hearth-assistant/hearth/frontend/src/i18n"
)

// Door is a device that asks to be let in; the zero value is an empty slot.
type Door struct {
	ID   string
	Name string // what it says of itself
	Code string // the digits on its screen, as they are shown; empty: it shows none
	From string // its address
	May  string // what it may do then
}

// door is the row of a device. Only one whose digits can be compared is let in
// from here: what else a device can be known by needs more words than a row has.
func door(w *i18n.Words, i int, d Door) Item {
	id := func(part string) string { return fmt.Sprintf("door%d%s", i, part) }
	label := w.Say("device", "name", short(d.Name, 40))
	if d.Code != "" {
		label += "  ·  " + d.Code
	}
	return Item{ID: id(""), Label: label, Hidden: d.ID == "", Sub: []Item{
		{ID: id("-from"), Label: w.Say("device.from", "address", short(d.From, 60)), Off: true, Hidden: d.From == ""},
		{ID: id("-may"), Label: w.Say("device.may", "what", short(d.May, 90)), Off: true, Hidden: d.May == ""},
		{ID: id("-in"), Label: w.Say("device.code", "code", d.Code), Do: Action{LetIn, d.ID}, Hidden: d.Code == ""},
		{ID: id("-no"), Label: w.Say("device.no"), Do: Action{TurnAway, d.ID}},
		{ID: id("-see"), Label: w.Say("see"), Do: Action{Settings, "people"}},
	}}
}
