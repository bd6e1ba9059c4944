package main

import "os/exec"

// start runs a program of the system and leaves it running: it may be the
// browser itself.
func start(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
