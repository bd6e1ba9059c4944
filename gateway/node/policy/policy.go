// Package policy decides which commands of a node may be called at all: by what
// the kind of device is good for, and by what the owner allows and forbids. It
// knows names and nothing of connections, approvals or parameters' meaning.
package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Class is the kind of a device.
type Class string

// The kinds of devices.
const (
	IOS     Class = "ios"
	Android Class = "android"
	MacOS   Class = "macos"
	Windows Class = "windows"
	Linux   Class = "linux"
	Watch   Class = "watchos"
	Unknown Class = "unknown"
)

// ClassOf tells a device's kind from what it says of itself. That decides only
// about defaults: what it may really do, a person has approved by name.
func ClassOf(platform, family string) Class {
	for _, s := range []string{platform, family} {
		s = strings.ToLower(strings.TrimSpace(s))
		for _, k := range []struct {
			head  string
			class Class
		}{
			{"watch", Watch}, {"apple watch", Watch}, {"ios", IOS}, {"iphone", IOS}, {"ipad", IOS}, {"android", Android},
			{"mac", MacOS}, {"darwin", MacOS}, {"win", Windows}, {"linux", Linux},
		} {
			if strings.HasPrefix(s, k.head) {
				return k.class
			}
		}
	}
	return Unknown
}

// Settings are what the owner says: names, or their beginnings with a * at the
// end.
type Settings struct{ Allow, Deny []string }

// Decision is about one command.
type Decision struct {
	Allowed bool
	// OptIn: the owner may allow it by name in the settings.
	OptIn bool
	Why   string // when it is not allowed
}

func sets(groups ...[]string) map[string]bool {
	out := map[string]bool{}
	for _, g := range groups {
		for _, name := range g {
			out[name] = true
		}
	}
	return out
}

// defaults are the commands that a device of a kind may be asked for without a
// word in the settings.
func defaults(c Class) map[string]bool {
	device := []string{"device.info", "device.status", "system.notify"}
	look := []string{"camera.list", "location.get"}
	canvas := []string{
		"canvas.present", "canvas.hide", "canvas.navigate", "canvas.eval", "canvas.snapshot",
		"canvas.a2ui.push", "canvas.a2ui.pushJSONL", "canvas.a2ui.reset",
	}
	personal := []string{"contacts.search", "calendar.events", "reminders.list", "photos.latest"}
	motion := []string{"motion.activity", "motion.pedometer"}
	host := []string{
		"system.run", "system.run.prepare", "system.which", "system.execApprovals.get", "system.execApprovals.set", "screen.snapshot",
	}
	android := []string{"notifications.list", "notifications.actions", "device.permissions", "device.health", "device.apps", "callLog.search"}
	switch c {
	case IOS:
		return sets(device, look, canvas, personal, motion)
	case Android:
		return sets(device, look, canvas, personal, android)
	case MacOS:
		return sets(device, look, canvas, personal, motion, host)
	case Linux, Windows:
		return sets(device, look, canvas, host)
	case Watch:
		return sets(device)
	}
	return sets(device, look, canvas)
}

// dangerous are commands that see, record or change what is private; they need
// the owner's word by name on every kind of device.
func dangerous() map[string]bool {
	return sets([]string{
		"camera.snap", "camera.clip", "camera.ptz.control", "screen.record", "contacts.add", "calendar.add", "reminders.add",
		"health.summary", "sms.send", "sms.search",
	})
}

// Decide is about one command of a device of a kind.
func (s Settings) Decide(class Class, command string) Decision {
	if !ValidName(command) {
		return Decision{Why: "this is no name of a command"}
	}
	if slices.ContainsFunc(s.Deny, func(p string) bool { return matches(p, command) }) {
		return Decision{Why: fmt.Sprintf("%q is forbidden in gateway.nodes.commands.deny", command)}
	}
	// What is dangerous is allowed by its whole name only.
	if slices.Contains(s.Allow, command) {
		return Decision{Allowed: true}
	}
	if dangerous()[command] {
		return Decision{OptIn: true, Why: fmt.Sprintf("%q requires explicit gateway.nodes.commands.allow opt-in", command)}
	}
	if defaults(class)[command] || slices.ContainsFunc(s.Allow, func(p string) bool { return matches(p, command) }) {
		return Decision{Allowed: true}
	}
	return Decision{OptIn: true, Why: fmt.Sprintf("%q is not in the allowlist for platform %q", command, class)}
}

func matches(pattern, command string) bool {
	if head, ok := strings.CutSuffix(pattern, "*"); ok {
		return head != "" && strings.HasPrefix(command, head)
	}
	return pattern == command
}

// ValidName reports whether text can be the name of a command.
func ValidName(text string) bool {
	if text == "" || len(text) > 128 {
		return false
	}
	for _, r := range text {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r) {
			return false
		}
	}
	return true
}

// Hosts reports whether a command reaches a machine's programs or files: such a
// node is approved by an administrator only, and never together with a code.
func Hosts(command string) bool {
	for _, head := range []string{"system.run", "system.which", "system.execApprovals", "browser.proxy", "fs.", "file.", "dir.", "mcp.",
		"terminal.", "desktop.", "computer."} {
		if strings.HasPrefix(command, head) {
			return true
		}
	}
	return false
}

// OnlyLooks reports whether a command may be called without the right to change
// settings even though it belongs to those of Hosts: it starts and reads nothing.
func OnlyLooks(command string) bool { return command == "system.which" }

// Reserved reports whether the gateway alone calls a command, on a way of its
// own: what decides about commands on the node.
func Reserved(command string) bool { return strings.HasPrefix(command, "system.execApprovals.") }
