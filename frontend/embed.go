// Package frontend holds the built web page. It owns the embedded files and
// the notice that stands in when a binary was built without them; serving them
// is gateway/server's work.
package frontend

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// notBuilt is one page without script or style, so that it passes the strict
// policy of the real one.
//
//go:embed notbuilt/index.html
var notBuilt embed.FS

// Dist returns the files of the page, with index.html at the root. A binary
// that was compiled before the page was built gets a notice that says how to
// build it.
func Dist() fs.FS { return orNotice(unpacked{sub(dist, "dist")}) }

// Words returns the catalogue of languages that the command line has: a folder for
// each, empty where the page was not built.
func Words() fs.FS { return sub(unpacked{sub(dist, "dist")}, "words") }

func orNotice(files fs.FS) fs.FS {
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return sub(notBuilt, "notbuilt")
	}
	return files
}

// sub cannot fail: dir is a constant valid path.
func sub(files fs.FS, dir string) fs.FS {
	s, err := fs.Sub(files, dir)
	if err != nil {
		return files
	}
	return s
}
