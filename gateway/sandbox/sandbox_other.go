//go:build !linux && !darwin

package sandbox

import "fmt"

// Enter confines nothing on this system, and says so.
func Enter(Rules) error { return ErrUnavailable }

// Wrap confines nothing on this system, and says so.
func Wrap(Rules, []string) ([]string, error) {
	return nil, fmt.Errorf("%w; approve the command to run it without", ErrUnavailable)
}

// Probe says what holds here.
func Probe() Report {
	return Report{Words: []string{"This system has no sandbox that Hearth can use; a command and all that it starts do end with it."}}
}
