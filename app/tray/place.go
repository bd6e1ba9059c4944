package main

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
)

// place names a part of the page, as the page reads it from its address.
func place(kind, arg string) string {
	if arg == "" {
		return kind
	}
	return kind + "/" + url.PathEscape(arg)
}

// docs is the documentation: what was installed or, without it, the project's.
func docs() string {
	const installed = "/usr/share/doc/hearth/docs"
	if info, err := os.Stat(filepath.Join(installed, "desktop.md")); runtime.GOOS == "linux" && err == nil && info.Mode().IsRegular() {
		return "file://" + installed
	}
	return "https://github.com/hearth-assistant/hearth/tree/main/docs"
}
