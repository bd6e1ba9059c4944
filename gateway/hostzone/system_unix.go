//go:build !windows

package hostzone

func system() string { return linked("/etc/localtime", "/etc/timezone") }
