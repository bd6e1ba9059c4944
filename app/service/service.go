// Package service makes the gateway a service of the person who installs it:
// started with their session or the machine, started again when it fails. It
// writes what the system reads (a systemd unit, a LaunchAgent, a task) and asks
// the system to take it; it never needs an administrator.
package service

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"unicode"
)

// Spec is what runs.
type Spec struct {
	// Name is the service's: Gateway, or another that runs beside it.
	Name string
	Exe  string            // absolute
	Args []string          // without the program
	Env  map[string]string // beside the session's
	Home string            // of the person; where the files go
	Log  string            // for systems that have no log of their own
}

// State is how the service is.
type State struct {
	Installed bool   `json:"installed"`
	Running   bool   `json:"running"`
	File      string `json:"file"`           // what the system reads
	Words     string `json:"note,omitempty"` // what a person should know
}

// ErrNoManager means that the system has nothing that could run a service of a
// person: no user systemd, for example, as in most containers.
var ErrNoManager = errors.New("this system runs no services for you")

// ErrNotInstalled means that there is no service to start or stop.
var ErrNotInstalled = errors.New("the service is not installed")

// Manager installs, removes, starts, stops and looks. A service that was stopped starts
// again with the next login.
type Manager interface {
	Install(ctx context.Context, s Spec) (State, error)
	Remove(ctx context.Context, s Spec) (State, error)
	Start(ctx context.Context, s Spec) (State, error) // ErrNotInstalled; one that runs goes on
	Stop(ctx context.Context, s Spec) (State, error)  // ErrNotInstalled
	Status(ctx context.Context, s Spec) (State, error)
}

// Restart stops a service and starts it.
func Restart(ctx context.Context, m Manager, s Spec) (State, error) {
	if _, err := m.Stop(ctx, s); err != nil {
		return State{}, err
	}
	return m.Start(ctx, s)
}

// installed is the state of a service that there is.
func installed(ctx context.Context, m Manager, s Spec) (State, error) {
	st, err := m.Status(ctx, s)
	if err == nil && !st.Installed {
		err = ErrNotInstalled
	}
	return st, err
}

// The services that there are.
const (
	Gateway = "hearth"
	Node    = "hearth-node"
)

// words is what a person reads of a service.
func (s Spec) words() string {
	if s.Name == Node {
		return "Hearth, this machine as a node of a gateway"
	}
	return "Hearth, a personal AI assistant"
}

// check refuses words that one of the formats could take for its own: a line
// break ends a line of a unit (for systemd a carriage return does, too), and a
// task puts a variable's value in the place of %ITS_NAME%.
func (s Spec) check(variables bool) error {
	words := append([]string{s.Exe, s.Home, s.Log}, s.Args...)
	for k, v := range s.Env {
		words = append(words, k, v)
	}
	for _, w := range words {
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
			return fmt.Errorf("%q holds a line break or another control character, which a service's settings must not; give the file or folder "+
				"another name", w)
		}
	}
	if variables && strings.Contains(strings.Join(append([]string{s.Exe}, s.Args...), " "), "%") {
		return fmt.Errorf("%q holds a %%, which Windows reads as the beginning of a variable's name; move Hearth to another folder", s.Exe)
	}
	return nil
}

// Run starts a program of the system and returns what it said.
type Run func(ctx context.Context, name string, args ...string) (string, error)

// System runs programs for real.
func System(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	said := strings.TrimSpace(string(out))
	if err != nil && said != "" {
		return said, fmt.Errorf("%s %s: %s", name, strings.Join(args, " "), said)
	}
	if err != nil {
		return said, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return said, nil
}
