//go:build desktop && !windows

package main

import "github.com/hearth-assistant/hearth/app/tray/menu"

// picture is the icon in one colour, which macOS adapts to its bar, and in
// colours for everybody else.
func picture(i menu.Icon) (template, regular []byte) {
	template, _ = icons.ReadFile("icons/" + string(i) + "-template.png")
	regular, _ = icons.ReadFile("icons/" + string(i) + ".png")
	return template, regular
}

// label: no character has a meaning here. On Linux libdbusmenu doubles the
// underscores of plain labels by itself.
func label(s string) string { return s }
