//go:build !linux && !darwin && !windows

package autostart

import "errors"

var errNone = errors.New("this system starts no programs at login")

// Enabled reports whether the program starts at login.
func (e Entry) Enabled() (bool, error) { return false, nil }

// Enable has it start.
func (e Entry) Enable() error { return errNone }

// Disable has it start no more.
func (e Entry) Disable() error { return nil }
