package service

import "os"

// New is this system's manager.
func New(run Run, _ func(string) string) Manager { return Launchd{Run: run, UID: os.Getuid()} }
