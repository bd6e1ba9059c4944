// Package rerun is for test programs that are started again as another program: a
// guardian of commands, a reader of files. It owns how those end; what they do is
// their package's.
package rerun

import "os"

// Exit is os.Exit, and nothing is said at the end: under go test -cover a program
// without GOCOVERDIR complains, where commands and readers write what is looked at.
func Exit(code int) {
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = null
	}
	os.Exit(code)
}
