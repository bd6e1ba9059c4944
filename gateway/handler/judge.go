package handler

import (
	"slices"

	"github.com/hearth-assistant/hearth/gateway/skill"
)

// Setting is what the settings say of one handler.
type Setting struct {
	Enabled *bool           // nil: nothing
	SHA256  string          // of the files that the owner has seen
	Env     map[string]bool // names that have a value there
}

// State is why a handler is run, or is not.
type State struct {
	Handler
	Enabled bool           // in the settings
	Seen    bool           // its files are those that the owner has seen
	Missing skill.Requires // of what it needs
	Checks  map[string]bool
	Blocked string // why it is not run; "": it is
}

// Runs reports whether it is told.
func (s *State) Runs() bool { return s.Blocked == "" }

// Complete reports whether all that it needs is there.
func (s *State) Complete() bool {
	m := s.Missing
	return len(m.Bins)+len(m.AnyBins)+len(m.Env)+len(m.Config)+len(m.OS) == 0
}

// Reasons for which a handler is not run. The first four are OpenClaw's.
const (
	NotEnabled   = "disabled in config"
	NotEnabledWS = "workspace hook (disabled by default)"
	Incomplete   = "missing requirements"
	NoEvents     = "no events defined"
	NotSeen      = "not enabled as it is now: its files changed since, or nobody looked at them"
	AllOff       = "internal hooks are switched off (hooks.internal.enabled)"
)

// Judge says whether a handler is run. Nothing is that the owner did not enable
// by name, and nothing with other files than those that they enabled.
func Judge(w skill.World, h Handler, set Setting, on bool) State {
	judged := w.Judge(skill.Skill{Spec: h.Spec})
	s := State{
		Handler: h, Enabled: set.Enabled != nil && *set.Enabled, Seen: h.Form == Builtin || h.SHA256 != "" && h.SHA256 == set.SHA256,
		Missing: judged.Missing, Checks: judged.Satisfied,
	}
	switch {
	case h.Problem != "":
		s.Blocked = h.Problem
	case h.HearsNothing():
		s.Blocked = h.NeverTold()
	case !on:
		s.Blocked = AllOff
	case !s.Enabled && h.Source == Workspace && set.Enabled == nil:
		s.Blocked = NotEnabledWS
	case !s.Enabled:
		s.Blocked = NotEnabled
	case !s.Complete():
		s.Blocked = Incomplete
	case len(h.Events) == 0:
		s.Blocked = NoEvents
	case !s.Seen:
		s.Blocked = NotSeen
	}
	return s
}

// Pick finds the handler that a person means: by its name, else by its key, which
// has to be one's only.
func Pick(all []State, name string) (found []State) {
	for _, by := range []func(s State) bool{
		func(s State) bool { return same(s.Name, name) }, func(s State) bool { return s.Key == name },
	} {
		if found = slices.DeleteFunc(slices.Clone(all), func(s State) bool { return !by(s) }); len(found) > 0 {
			return found
		}
	}
	return nil
}
