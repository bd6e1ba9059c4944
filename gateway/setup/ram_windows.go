package setup

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is Windows' MEMORYSTATUSEX.
type memoryStatus struct {
	length, load uint32
	totalPhys    uint64
	rest         [6]uint64
}

// RAM is the memory of this computer in bytes, 0 when it does not say.
func RAM() int64 {
	m := memoryStatus{}
	m.length = uint32(unsafe.Sizeof(m))
	call := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if ok, _, _ := call.Call(uintptr(unsafe.Pointer(&m))); ok == 0 {
		return 0
	}
	return int64(m.totalPhys)
}
