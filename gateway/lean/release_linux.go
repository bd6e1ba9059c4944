package lean

import (
	"bufio"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// Touched is how many pages the kernel gave this process so far.
func Touched() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return int64(u.Minflt) + int64(u.Majflt)
}

// Release gives back garbage and the pages of this program's code and constants.
func Release() {
	debug.FreeOSMemory()
	for _, p := range parts() {
		// Only pages that are as the file has them: they are mapped again, from
		// the file's cache, when they are used.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, p.from, p.to-p.from, syscall.MADV_DONTNEED)
	}
}

type part struct{ from, to uintptr }

// parts are where this program's file is mapped and cannot be written.
func parts() (out []part) {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		p, ok := partOf(lines.Text(), exe)
		if ok {
			out = append(out, p)
		}
	}
	return out
}

// partOf reads one line: from-to rights offset device inode path.
func partOf(line, exe string) (part, bool) {
	f := strings.Fields(line)
	if len(f) < 6 || !strings.HasSuffix(line, " "+exe) || (f[1] != "r-xp" && f[1] != "r--p") {
		return part{}, false
	}
	a, b, ok := strings.Cut(f[0], "-")
	if !ok {
		return part{}, false
	}
	from, err1 := strconv.ParseUint(a, 16, 64)
	to, err2 := strconv.ParseUint(b, 16, 64)
	return part{uintptr(from), uintptr(to)}, err1 == nil && err2 == nil && from < to
}
