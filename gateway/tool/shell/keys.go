package shell

import (
	"fmt"
	"strings"
)

// key is what a terminal sends for a key. quiet keys move or stop something;
// they carry no text and confirm nothing.
func key(name string) (seq string, quiet bool, err error) {
	switch strings.ToLower(name) {
	case "enter", "return":
		return "\r", false, nil
	case "tab":
		return "\t", false, nil
	case "space":
		return " ", false, nil
	case "escape", "esc":
		return "\x1b", true, nil
	case "backspace", "bspace":
		return "\x7f", true, nil
	case "delete", "dc":
		return "\x1b[3~", true, nil
	case "home":
		return "\x1b[H", true, nil
	case "end":
		return "\x1b[F", true, nil
	case "pageup", "ppage":
		return "\x1b[5~", true, nil
	case "pagedown", "npage":
		return "\x1b[6~", true, nil
	case "left":
		return "\x1b[D", true, nil
	case "right":
		return "\x1b[C", true, nil
	case "up": // brings back an earlier line
		return "\x1b[A", false, nil
	case "down":
		return "\x1b[B", false, nil
	case "c-c", "ctrl-c", "^c":
		return "\x03", true, nil
	case "c-d", "ctrl-d", "^d":
		return "\x04", true, nil
	}
	kind, rest, _ := strings.Cut(name, "-")
	if len(rest) == 1 && rest[0] > ' ' && rest[0] < 0x7f {
		switch strings.ToLower(kind) {
		case "c", "ctrl":
			if c := rest[0] &^ 0x60; c <= 0x1f {
				return string(rune(c)), false, nil
			}
		case "m", "alt":
			return "\x1b" + rest, false, nil
		}
	}
	return "", false, fmt.Errorf("there is no key %q; use names like Enter, Tab, Up, C-c, M-x, and literal for text", name)
}
