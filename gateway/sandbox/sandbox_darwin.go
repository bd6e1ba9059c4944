package sandbox

import (
	"fmt"
	"os"
)

const sandboxExec = "/usr/bin/sandbox-exec"

// Enter does nothing here: Wrap does.
func Enter(Rules) error { return nil }

// Wrap returns the command that runs argv confined.
func Wrap(r Rules, argv []string) ([]string, error) {
	if _, err := os.Stat(sandboxExec); err != nil {
		return nil, fmt.Errorf("%w: %s is missing", ErrUnavailable, sandboxExec)
	}
	if err := r.same(); err != nil {
		return nil, err
	}
	return append([]string{sandboxExec, "-p", profile(r), "--"}, argv...), nil
}

// Probe says what holds here.
func Probe() Report {
	if _, err := os.Stat(sandboxExec); err != nil {
		return Report{Words: []string{sandboxExec + " is missing on this Mac."}}
	}
	return Report{Backend: "seatbelt", Confined: true, Words: []string{
		"Commands change files only in their workspace and a folder of their own for temporary files.",
		"They do not read your home folder, nor anything that Hearth keeps.",
		"They reach no network unless it is allowed, and no keychain.",
	}}
}
