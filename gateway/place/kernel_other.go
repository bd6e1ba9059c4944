//go:build !linux

package place

import "os"

// kernelFile: other systems have no such files but devices.
func kernelFile(*os.File) bool { return false }
