package menu

import "github.com/hearth-assistant/hearth/frontend/src/i18n"

// Update is a newer version of Hearth.
type Update struct {
	Version string
	// Blocked says why Hearth does not install it itself, and who does; "": it can.
	Blocked string
	Running bool // it is being installed
}

// newer is the row of a newer version: there only when there is one, and it installs
// nothing that somebody else looks after.
func newer(w *i18n.Words, u Update) Item {
	label := w.Say("update", "version", short(u.Version, 40))
	if u.Running {
		label = w.Say("update.running", "version", short(u.Version, 40))
	}
	return Item{ID: "update", Label: label, Off: u.Running, Hidden: u.Version == "", Sub: []Item{
		{ID: "update-now", Label: w.Say("update.now"), Do: Action{Verb: Install}, Hidden: u.Blocked != "" || u.Running},
		{ID: "update-by", Label: short(u.Blocked, lineChars), Off: true, Hidden: u.Blocked == ""},
		{ID: "update-see", Label: w.Say("update.see"), Do: Action{Settings, "health"}},
	}}
}
