package autostart

import "path/filepath"

func (e Entry) file() string {
	return filepath.Join(e.Home, "Library", "LaunchAgents", "org.hearth.tray.plist")
}

// Enabled reports whether the program starts at login.
func (e Entry) Enabled() (bool, error) { return there(e.file()) }

// Enable has it start, from the next login on.
func (e Entry) Enable() error { return put(e.file(), loginAgent(e.Exe)) }

// Disable has it start no more.
func (e Entry) Disable() error { return take(e.file()) }
