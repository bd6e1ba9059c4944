//go:build !linux && !darwin && !windows

package setup

// RAM is the memory of this computer in bytes, 0 when it does not say.
func RAM() int64 { return 0 }
