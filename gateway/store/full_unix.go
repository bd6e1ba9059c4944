//go:build !windows

package store

func isFullOS(error) bool { return false }
