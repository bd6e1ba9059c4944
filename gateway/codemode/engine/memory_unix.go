//go:build unix

package engine

import "golang.org/x/sys/unix"

func reserve(n uint64) ([]byte, error) {
	return unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|noReserve)
}

// commit does nothing: a page is there when it is first touched.
func commit([]byte, uint64, uint64) error { return nil }

func unreserve(b []byte) error { return unix.Munmap(b) }
