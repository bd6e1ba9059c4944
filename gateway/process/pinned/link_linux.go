package pinned

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readlink answers programs that follow links themselves before they open what
// they lead to, as node does: on the way to an approved file every link leads
// where it led when it was approved, and what was none is none.
func (w *Watcher) readlink(id uint64, a asked) {
	to, known := w.leads(a)
	if !known {
		w.goOn(id)
		return
	}
	n := min(len(to), a.size)
	if n <= 0 {
		w.refuse(id, unix.EINVAL)
		return
	}
	if !w.waits(id) || !write(a.pid, a.buffer, []byte(to[:n])) {
		w.refuse(id, unix.EFAULT)
		return
	}
	w.answer(response{id: id, val: int64(n)})
}

func (w *Watcher) leads(a asked) (to string, known bool) {
	// What an open copy is called, for those who want to know.
	if fd, ok := strings.CutPrefix(a.path, "/proc/self/fd/"); ok && !strings.Contains(fd, "/") {
		is := FolderOf("/proc/" + strconv.Itoa(a.pid) + "/fd/" + fd)
		for i, c := range w.copies {
			if c == is {
				return w.o.Files[i].Names[0], true
			}
		}
		return "", false
	}
	if !w.steps[path.Base(a.path)] {
		return "", false
	}
	to, known = w.links[filepath.Clean(w.full(a))]
	return to, known
}

func write(pid int, at uintptr, b []byte) bool {
	local := []unix.Iovec{{Base: unsafe.SliceData(b)}}
	local[0].SetLen(len(b))
	n, err := unix.ProcessVMWritev(pid, local, []unix.RemoteIovec{{Base: at, Len: len(b)}}, 0)
	return err == nil && n == len(b)
}
