package pinned

import (
	"bytes"
	"encoding/binary"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asked is a file that somebody wants to open or start.
type asked struct {
	pid    int
	folder int // AT_FDCWD, or a descriptor of pid
	path   string
	flags  uint64

	buffer uintptr // for where a link leads
	size   int
}

// look reads what is asked out of the memory of who asks. ok is false when the
// call is none of ours; the kernel then reads it itself.
func (w *Watcher) look(n notification, c call) (a asked, ok bool) {
	a = asked{pid: int(n.pid), folder: unix.AT_FDCWD}
	arg := n.args[:]
	if c == openat || c == openat2 || c == execat || c == linkat {
		a.folder, arg = int(int32(arg[0])), arg[1:]
	}
	if a.path, ok = text(a.pid, uintptr(arg[0])); !ok {
		return a, false
	}
	switch c {
	case open, openat:
		a.flags = arg[1]
	case openat2:
		var b [8]byte
		if !read(a.pid, uintptr(arg[1]), b[:]) {
			return a, false
		}
		a.flags = binary.NativeEndian.Uint64(b[:])
	case execat:
		if a.path == "" && arg[3]&unix.AT_EMPTY_PATH != 0 { // the descriptor itself
			to, err := os.Readlink(a.where())
			if err != nil {
				return a, false
			}
			a.path, a.folder = to, unix.AT_FDCWD
		}
	case link, linkat:
		a.buffer, a.size = uintptr(arg[1]), int(int32(arg[2]))
	case exec:
	default:
		return a, false
	}
	return a, a.path != ""
}

// text reads a path, a page at a time: what lies behind it may not be there.
func text(pid int, at uintptr) (string, bool) {
	var out []byte
	for len(out) < unix.PathMax {
		b := make([]byte, pageSize-int(at)%pageSize)
		if len(b) > 512 && len(out) == 0 {
			b = b[:512] // most are short
		}
		if !read(pid, at, b) {
			return "", false
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(append(out, b[:i]...)), true
		}
		out, at = append(out, b...), at+uintptr(len(b))
	}
	return "", false
}

const pageSize = 4 << 10 // or a multiple of it

func read(pid int, at uintptr, b []byte) bool {
	local := []unix.Iovec{{Base: unsafe.SliceData(b)}}
	local[0].SetLen(len(b))
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: at, Len: len(b)}}, 0)
	return err == nil && n == len(b)
}

// where is the folder that the path is relative to, for us to go through.
func (a asked) where() string {
	if a.folder == unix.AT_FDCWD {
		return "/proc/" + strconv.Itoa(a.pid) + "/cwd"
	}
	return "/proc/" + strconv.Itoa(a.pid) + "/fd/" + strconv.Itoa(a.folder)
}

// match finds the approved file that is meant: by its name, wherever that leads
// by now, or by the name in its folder, whatever that is called by now.
func (w *Watcher) match(a asked) *File {
	candidates := w.bases[path.Base(a.path)]
	if len(candidates) == 0 {
		return nil
	}
	if f := named(candidates, w.full(a)); f != nil {
		return f
	}
	in := path.Dir(a.path)
	if !path.IsAbs(in) {
		in = a.where() + "/" + in
	}
	id := FolderOf(in)
	if id == (Folder{}) {
		return nil
	}
	for _, f := range candidates {
		for i, n := range f.Names {
			if path.Base(n) == path.Base(a.path) && i < len(f.Folders) && f.Folders[i] == id {
				return f
			}
		}
	}
	return nil
}

func (w *Watcher) full(a asked) string {
	if path.IsAbs(a.path) {
		return a.path
	}
	return w.called(a.where()) + "/" + a.path
}

// called is what a folder is called. The command's own keeps the name that it
// was approved with.
func (w *Watcher) called(link string) string {
	if FolderOf(link) == w.o.Folder {
		return w.o.Dir
	}
	to, _ := os.Readlink(link)
	return to
}

func named(files []*File, full string) *File {
	clean := filepath.Clean(full)
	for _, f := range files {
		for _, n := range f.Names {
			// ".." is the kernel's to follow, through links; as long as the text is
			// the same, the same is meant.
			if n == full || !strings.Contains(n, "/../") && n == clean {
				return f
			}
		}
	}
	return nil
}

// open gives who asks a descriptor of the copy.
func (w *Watcher) open(id uint64, a asked, f *File) {
	reads := a.flags&unix.O_ACCMODE == unix.O_RDONLY && a.flags&(unix.O_PATH|unix.O_DIRECTORY|unix.O_TRUNC) == 0
	if !reads || copies(a.pid) || !w.waits(id) {
		w.goOn(id)
		return
	}
	// An open file of its own, which nobody else reads on in.
	fd, err := unix.Open("/proc/self/fd/"+strconv.Itoa(int(f.Content.Fd())), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		w.refuse(id, unix.EIO)
		return
	}
	defer func() { _ = unix.Close(fd) }()
	// In two steps, although SECCOMP_ADDFD_FLAG_SEND is both in one: a signal that interrupts
	// that one takes the descriptor back and leaves the answer standing, which is 0. A shell
	// then read its own input in the place of the script (seen on Linux 6.18).
	add := addition{id: id, src: uint32(fd), dstFlags: uint32(a.flags & unix.O_CLOEXEC)}
	got, err := control(w.fd, unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&add))
	if err == nil {
		w.answer(response{id: id, val: int64(got)})
		return
	}
	if e, ok := err.(unix.Errno); ok { // too many files, for instance
		w.refuse(id, e)
	}
}

// copiers compare what they opened with what they saw, and refuse a descriptor
// of something else. They run nothing of what they read.
var copiers = []string{"cp", "mv", "install", "tar", "bsdtar", "rsync", "git", "cpio", "scp", "zip"}

func copies(pid int) bool {
	exe, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	return err == nil && (strings.HasPrefix(exe, "/usr/") || strings.HasPrefix(exe, "/bin/")) && slices.Contains(copiers, path.Base(exe))
}
