package status

import "runtime"

// memoryOf is the fallback where the system does not tell resident memory.
func memoryOf() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}
