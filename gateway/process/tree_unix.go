//go:build linux || darwin

package process

import (
	"os"
	"syscall"
)

// descendants are all processes that this one, or one of those, started.
func descendants() []entry {
	children := map[int][]entry{}
	for _, e := range all() {
		children[e.parent] = append(children[e.parent], e)
	}
	var out []entry
	seen := map[int]bool{}
	todo := []int{os.Getpid()}
	for len(todo) > 0 {
		pid := todo[0]
		todo = todo[1:]
		for _, e := range children[pid] {
			if !seen[e.pid] {
				seen[e.pid] = true
				out = append(out, e)
				todo = append(todo, e.pid)
			}
		}
	}
	return out
}

// endTree signals every descendant. Before it kills, it holds them all still,
// so that none gives birth while others die.
func endTree(sig syscall.Signal) {
	tree := descendants()
	if sig == syscall.SIGKILL {
		for _, e := range tree {
			_ = e.signal(syscall.SIGSTOP)
		}
		tree = descendants()
	}
	for _, e := range tree {
		_ = e.signal(sig)
		if sig == syscall.SIGTERM {
			_ = e.signal(syscall.SIGCONT) // a stopped one could not hear it
		}
	}
}
