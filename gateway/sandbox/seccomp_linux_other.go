//go:build linux && !amd64 && !arm64

package sandbox

const (
	auditArch = 0 // no filter was written for this processor
	x32       = 0
)

var forbiddenHere []uint32
