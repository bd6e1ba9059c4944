//go:build !linux

package status

// residentBytes is what the runtime holds, which is close to resident memory.
func residentBytes() int64 { return memoryOf() }
