package menu

import "fmt"

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
func door(i int, d Door) Item {
	id := func(part string) string { return fmt.Sprintf("door%d%s", i, part) }
	label := "Asks to be let in: " + short(d.Name, 40)
	if d.Code != "" {
		label += "  ·  " + d.Code
	}
	return Item{ID: id(""), Label: label, Hidden: d.ID == "", Sub: []Item{
		{ID: id("-from"), Label: "From " + short(d.From, 60), Off: true, Hidden: d.From == ""},
		{ID: id("-may"), Label: "It may then " + short(d.May, 90), Off: true, Hidden: d.May == ""},
		{ID: id("-in"), Label: "Its screen shows " + d.Code + ": let it in", Do: Action{LetIn, d.ID}, Hidden: d.Code == ""},
		{ID: id("-no"), Label: "Turn it away", Do: Action{TurnAway, d.ID}},
		{ID: id("-see"), Label: "See all of it…", Do: Action{Settings, "people"}},
	}}
}
