package lean

import (
	"bufio"
	"io"
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
// Those of libraries stay: of one that another thread is just loading, pages
// would be lost that the loader has written.
func Release() {
	debug.FreeOSMemory()
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	for _, p := range parts(f, exe) {
		// They are mapped again, from the file's cache, when they are used.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, p.from, p.to-p.from, syscall.MADV_DONTNEED)
	}
}

type part struct{ from, to uintptr }

// parts are where the program's file is mapped, cannot be written, and is as the
// file has it. What the loader wrote and then closed (addresses of libraries'
// functions) cannot be written any more either, and would be lost.
func parts(smaps io.Reader, exe string) (out []part) {
	var p part
	var ours, asTheFile bool
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		line := lines.Text()
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case !strings.HasSuffix(f[0], ":"):
			p, ours = partOf(line, exe)
			asTheFile = false
		case !ours:
		case f[0] == "Anonymous:":
			asTheFile = len(f) == 3 && f[1] == "0"
		case f[0] == "Swap:":
			if asTheFile && len(f) == 3 && f[1] == "0" {
				out = append(out, p)
			}
			ours = false
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
