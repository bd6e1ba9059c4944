//go:build race

package isolate

// raceDetector: Go's detector of races takes gigabytes of address space of its own,
// which the limit of data would count.
const raceDetector = true
