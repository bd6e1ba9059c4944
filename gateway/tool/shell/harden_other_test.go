//go:build !linux

package shell_test

func harden() {}
