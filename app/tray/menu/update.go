package menu

// Update is a newer version of Hearth.
type Update struct {
	Version string
	// Blocked says why Hearth does not install it itself, and who does; "": it can.
	Blocked string
	Running bool // it is being installed
}

// newer is the row of a newer version: there only when there is one, and it installs
// nothing that somebody else looks after.
func newer(u Update) Item {
	label := "Update available: " + short(u.Version, 40)
	if u.Running {
		label = "Updating to " + short(u.Version, 40) + "…"
	}
	return Item{ID: "update", Label: label, Off: u.Running, Hidden: u.Version == "", Sub: []Item{
		{ID: "update-now", Label: "Install it and restart Hearth", Do: Action{Verb: Install}, Hidden: u.Blocked != "" || u.Running},
		{ID: "update-by", Label: short(u.Blocked, lineChars), Off: true, Hidden: u.Blocked == ""},
		{ID: "update-see", Label: "What is new…", Do: Action{Settings, "health"}},
	}}
}
