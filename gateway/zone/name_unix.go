//go:build !windows

package zone

func system() string { return linked("/etc/localtime", "/etc/timezone") }
