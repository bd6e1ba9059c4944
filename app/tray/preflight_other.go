//go:build desktop && !linux

package main

import "context"

// preflight: these systems always have a menu bar.
func preflight(context.Context) error { return nil }
