//go:build !failpoint

package failpoint

// Hit is a place where a crash test may end the process.
func Hit(string) {}
