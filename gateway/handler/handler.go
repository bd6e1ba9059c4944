// Package handler knows the folders with a HOOK.md: programs and scripts of the
// owner's that are told when something happens. It owns where they are looked for
// and which of two wins, what they need, and that one is run only with the very
// files that the owner has seen; it runs programs, within limits of time and
// output, and ends all that they started.
//
// It does not own which of them are enabled (the settings of feature/hooks), when
// something happens (session.Happening), nor how scripts are run (package codemode).
package handler

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/skill"
)

// Source is where a handler comes from.
type Source string

// The sources, in the words of OpenClaw's reports.
const (
	Bundled   Source = "openclaw-bundled" // comes with Hearth
	Managed   Source = "openclaw-managed" // the owner's, for all assistants
	Workspace Source = "openclaw-workspace"
)

// Form is how a handler is run.
type Form string

// The forms.
const (
	Builtin Form = "builtin" // a part of Hearth
	Program Form = "program" // a process of its own
	Script  Form = "script"  // a program of code mode
)

// Handler is one that was found.
type Handler struct {
	skill.Hook
	Source Source
	Form   Form   // "": it has nothing that can be run
	Dir    string // its folder, "" for a part of Hearth
	File   string // what is run, within Dir
	Agent  string // whose workspace it lies in, "" for everybody's
	SHA256 string // of all its files, "" for a part of Hearth
	// Problem says why it can never be run as it is, "" when it can.
	Problem string

	files []file
}

// Errors that callers decide on.
var (
	// ErrChanged: its files are not those that the owner has seen.
	ErrChanged = errors.New("its files are not those that you have seen")
	// ErrTimeout: it took too long and was ended.
	ErrTimeout = errors.New("it took too long and was ended")
)

// events are the keys that exist, as OpenClaw's page lists them.
var events = []string{
	"agent:bootstrap", "command:new", "command:reset", "command:stop", "gateway:pre-restart", "gateway:shutdown", "gateway:startup",
	"message:preprocessed", "message:received", "message:sent", "message:transcribed",
	"session:auto-reset", "session:compact:after", "session:compact:before",
	"session:patch",
}

// Families are what events are of; one that names a family hears all of it.
var families = []string{"command", "session", "agent", "gateway", "message"}

// Known reports whether there are events of that key.
func Known(key string) bool { return slices.Contains(events, key) || slices.Contains(families, key) }

// NeverTold says which of its events a handler is never told of, and why; "" for none.
func (h *Handler) NeverTold() string {
	var why []string
	for _, e := range h.Unknown() {
		why = append(why, "there is no event "+e)
	}
	return strings.Join(why, "; ")
}

// HearsNothing reports whether a handler names events, and is never told of any.
func (h *Handler) HearsNothing() bool { return len(h.Events) > 0 && len(h.Unknown()) == len(h.Events) }

// Unknown are the keys that a handler names and nobody ever tells of.
func (h *Handler) Unknown() []string {
	out := []string{}
	for _, e := range h.Events {
		if !Known(e) {
			out = append(out, e)
		}
	}
	return out
}

// Hears reports how often a handler wants to be told of an event: once for its
// family and once for its key.
func (h *Handler) Hears(family, action string) bool {
	return slices.Contains(h.Events, family) || slices.Contains(h.Events, family+":"+action)
}

// Descriptor is the path of its HOOK.md.
func (h *Handler) Descriptor() string {
	if h.Dir == "" {
		return "hearth:" + h.Name + "/" + skill.HookFile
	}
	return filepath.Join(h.Dir, skill.HookFile)
}

// Path is the path of what is run.
func (h *Handler) Path() string {
	if h.Dir == "" {
		return "hearth:" + h.Name
	}
	return filepath.Join(h.Dir, h.File)
}

// Text is the text of a script.
func (h *Handler) Text() string {
	for _, f := range h.files {
		if f.name == h.File {
			return string(f.data)
		}
	}
	return ""
}

// Files are its files, for a person who looks at it.
func (h *Handler) Files() (names []string) {
	for _, f := range h.files {
		names = append(names, f.name)
	}
	return names
}

// same reports one name in the eyes of every file system.
func same(a, b string) bool { return strings.EqualFold(a, b) }
