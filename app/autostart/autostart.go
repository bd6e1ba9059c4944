// Package autostart has a program start when its person logs in to a desktop:
// an XDG entry, a LaunchAgent, or a value of the registry. Services without a
// desktop are package service's.
package autostart

// Entry is the program that starts.
type Entry struct {
	Exe string // absolute
	// Home is the person's; Config is $XDG_CONFIG_HOME, empty for its default.
	Home, Config string
}

// Name is how the entry is called for people.
const Name = "Hearth"
