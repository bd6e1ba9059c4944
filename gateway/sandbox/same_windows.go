package sandbox

import "io/fs"

// IDOf is nothing where nothing is confined.
func IDOf(fs.FileInfo) ID { return ID{} }
