//go:build desktop

package main

import (
	"strings"

	"github.com/hearth-assistant/hearth/app/tray/menu"
)

// picture is the icon as Windows wants it.
func picture(i menu.Icon) (template, regular []byte) {
	b, _ := icons.ReadFile("icons/" + string(i) + ".ico")
	return b, b
}

// label: an ampersand would underline the next letter and vanish.
func label(s string) string { return strings.ReplaceAll(s, "&", "&&") }
