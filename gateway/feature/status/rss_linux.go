package status

import (
	"bytes"
	"os"
	"strconv"
)

// residentBytes is the process's resident memory.
func residentBytes() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return memoryOf()
	}
	f := bytes.Fields(b)
	if len(f) < 2 {
		return memoryOf()
	}
	pages, err := strconv.ParseInt(string(f[1]), 10, 64)
	if err != nil {
		return memoryOf()
	}
	return pages * int64(os.Getpagesize())
}
