package engine

import "golang.org/x/sys/unix"

const noReserve = unix.MAP_NORESERVE

func wipe(b []byte) { clear(b) }

func prefault([]byte) {}
