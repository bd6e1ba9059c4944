//go:build !linux

package gateway

// residentBytes is what the runtime holds, which is close to resident memory.
func residentBytes() int64 { return memoryOf() }
