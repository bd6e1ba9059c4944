//go:build !linux

package process_test

func harden() {}
