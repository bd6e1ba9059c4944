//go:build linux && !amd64 && !arm64

package pinned

const x32 = 0

// machines is empty: what the calls of this processor are called is not known.
var machines []numbers
