package engine

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

func reserve(n uint64) ([]byte, error) {
	p, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), n), nil
}

// commit turns the reserved bytes from old up to size into memory.
func commit(b []byte, old, size uint64) error {
	if size <= old {
		return nil
	}
	p := uintptr(unsafe.Pointer(unsafe.SliceData(b))) + uintptr(old)
	_, err := windows.VirtualAlloc(p, uintptr(size-old), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err
}

func unreserve(b []byte) error {
	return windows.VirtualFree(uintptr(unsafe.Pointer(unsafe.SliceData(b))), 0, windows.MEM_RELEASE)
}

func wipe(b []byte) { clear(b) }

func prefault([]byte) {}
