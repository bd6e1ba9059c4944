package config

import "io/fs"

// On Windows the folder's access list keeps others out; modes say nothing.

func checkPermissions(string, fs.FileInfo) error { return nil }

func readableByOthers(fs.FileInfo) bool { return false }
