// Package hotkey takes one key for us wherever the person is, where the system
// gives programs such keys: X11 and Windows. Wayland gives none, and macOS none
// without its own tools; there a shortcut of the system that starts
// `hearth-window --quick` does the same.
package hotkey

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Default is what is listened for when nothing was chosen.
const Default = "ctrl+alt+space"

// Why there is no key.
var (
	ErrTaken = errors.New("another program has this key already")
	ErrNone  = errors.New("this desktop gives programs no key of their own; a shortcut in its settings that runs `hearth-window --quick` " +
		"does the same")
)

// Chord is a key with those that are held.
type Chord struct {
	Ctrl, Alt, Shift, Super bool
	Key                     string // "space", "a", "7", "f12"
}

// Parse reads "ctrl+alt+space". A key without another that is held would be
// lost for typing: it is refused.
func Parse(s string) (Chord, error) {
	var c Chord
	parts := strings.Split(strings.ToLower(strings.ReplaceAll(s, " ", "")), "+")
	for i, p := range parts {
		if i == len(parts)-1 {
			c.Key = p
			break
		}
		switch p {
		case "ctrl", "control":
			c.Ctrl = true
		case "alt", "option":
			c.Alt = true
		case "shift":
			c.Shift = true
		case "super", "win", "cmd", "meta":
			c.Super = true
		default:
			return Chord{}, fmt.Errorf("%q is no key that is held; ctrl, alt, shift and super are", p)
		}
	}
	if !known(c.Key) {
		return Chord{}, fmt.Errorf("%q is no key for this; a letter, a digit, space or f1 to f12 is, for example %s", c.Key, Default)
	}
	if !c.Ctrl && !c.Alt && !c.Super {
		return Chord{}, fmt.Errorf("a key for everywhere needs ctrl, alt or super with it, for example %s", Default)
	}
	return c, nil
}

func known(key string) bool {
	if len(key) == 1 {
		return key[0] >= 'a' && key[0] <= 'z' || key[0] >= '0' && key[0] <= '9'
	}
	return key == "space" || function(key) > 0
}

// function is the number of an F key, 0: it is none.
func function(key string) int {
	return 1 + slices.Index([]string{"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12"}, key)
}

// String is the chord as people write it.
func (c Chord) String() string {
	var out []string
	for _, m := range []struct {
		on   bool
		name string
	}{{c.Ctrl, "Ctrl"}, {c.Alt, "Alt"}, {c.Shift, "Shift"}, {c.Super, "Super"}} {
		if m.on {
			out = append(out, m.name)
		}
	}
	return strings.Join(append(out, strings.ToUpper(c.Key[:1])+c.Key[1:]), "+")
}
