//go:build !linux

package statedir

// Shared is known on Linux only.
func (d Dir) Shared() string { return "" }
