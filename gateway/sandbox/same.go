package sandbox

import (
	"fmt"
	"os"
	"slices"
)

// ID is which folder something is, whatever it is called.
type ID struct {
	Dev uint64 `json:"dev"`
	Ino uint64 `json:"ino"`
}

// same refuses rules whose folders were replaced since they were made.
func (r Rules) same() error {
	for path, id := range r.Same {
		info, err := os.Lstat(path)
		if err != nil || IDOf(info) != id {
			return fmt.Errorf("%s is not the folder any more that it was a moment ago, so nothing was started", path)
		}
	}
	return nil
}

// writes are the folders that may be changed. Those whose identity is known are
// where they are said to be, and no link is followed to find them.
func (r Rules) writes() []string {
	var out, found []string
	for _, p := range r.Write {
		if _, known := r.Same[p]; known {
			out = append(out, p)
		} else {
			found = append(found, p)
		}
	}
	return append(out, realAll(found)...)
}

// kept are the folders inside of one that may be changed that have to stay what
// and where they are.
func (r Rules) kept(inside string) []string {
	var out []string
	for _, k := range realAll(r.Stay) {
		if within(k, inside) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
