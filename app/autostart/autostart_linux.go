package autostart

import "path/filepath"

func (e Entry) file() string {
	dir := e.Config
	if dir == "" {
		dir = filepath.Join(e.Home, ".config")
	}
	return filepath.Join(dir, "autostart", "hearth.desktop")
}

// Enabled reports whether the program starts at login.
func (e Entry) Enabled() (bool, error) { return there(e.file()) }

// Enable has it start.
func (e Entry) Enable() error { return put(e.file(), desktopEntry(e.Exe)) }

// Disable has it start no more.
func (e Entry) Disable() error { return take(e.file()) }
