package undo

import "io/fs"

// Turn says on whose behalf files change.
type Turn struct {
	RunID      string
	SessionKey string
	CallID     string
	Tool       string
}

// Change is one file before and after. nil means that there is no file.
type Change struct {
	Path          string   // absolute, without links
	Folders       []string // that the change makes, outermost first
	Before, After *Content
}

// Content is what a file holds.
type Content struct {
	Data []byte
	Mode fs.FileMode
}
