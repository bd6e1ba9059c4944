package engine

import "golang.org/x/sys/unix"

const noReserve = unix.MAP_NORESERVE

// wipe zeroes b by giving its pages back.
func wipe(b []byte) {
	if unix.Madvise(b, unix.MADV_DONTNEED) != nil {
		clear(b)
	}
}

// prefault asks for b's pages at once instead of one fault each, and for large
// ones if there are many. A kernel that cannot does it the slow way.
func prefault(b []byte) {
	if len(b) >= largeFrom {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
	_ = unix.Madvise(b, unix.MADV_POPULATE_WRITE)
}

const largeFrom = 4 << 20 // two large pages of most processors
