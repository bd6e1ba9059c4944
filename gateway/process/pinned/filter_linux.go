package pinned

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Where struct seccomp_data holds what the filter looks at.
const (
	offNumber = 0
	offArch   = 4
)

const (
	retErrno = 0x00050000
	retAllow = 0x7fff0000
)

// call is what a system call does, as far as it is of interest.
type call byte

const (
	none    call = iota
	open         // path, flags
	openat       // folder, path, flags
	openat2      // folder, path, struct open_how
	exec         // path
	execat       // folder, path, argv, env, flags
	link         // path, buffer, size
	linkat       // folder, path, buffer, size
)

// numbers are the system calls of one processor.
type numbers struct {
	arch    uint32
	calls   map[uint32]call
	iouring uint32 // opens files by another way
}

// filter asks about the calls that open and start files, in every language that
// this machine's programs may speak to the kernel.
func filter() []unix.SockFilter {
	var all []unix.SockFilter
	for i, n := range machines {
		all = append(all, load(offArch))
		rules := n.filter(i == 0)
		all = append(append(all, only(n.arch, len(rules))), rules...)
	}
	return append(all, ret(retErrno|uint32(unix.ENOSYS)))
}

func (n numbers) filter(own bool) []unix.SockFilter {
	p := []unix.SockFilter{load(offNumber)}
	if own && x32 != 0 {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jf: 1, K: x32}, ret(retErrno|uint32(unix.ENOSYS)))
	}
	for nr := range n.calls {
		p = append(p, only(nr, 1), ret(unix.SECCOMP_RET_USER_NOTIF))
	}
	return append(p, only(n.iouring, 1), ret(retErrno|uint32(unix.ENOSYS)), ret(retAllow))
}

func load(off uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off}
}

func ret(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

// only skips the next n instructions when the value is not k.
func only(k uint32, n int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: uint8(n), K: k}
}

// install puts the filter on the calling thread and all that it starts. What it
// returns is where the kernel asks.
func install() (*os.File, error) {
	f := filter()
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	set := func(flags uintptr) (uintptr, unix.Errno) {
		fd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
		return fd, e
	}
	const plain = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	// Who waits for our answer is not woken by signals, where the kernel can.
	fd, e := set(plain | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	if e == unix.EACCES {
		// Who is not root promises to get no new rights. Root keeps sudo working.
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return nil, fmt.Errorf("give up new rights: %w", err)
		}
		fd, e = set(plain | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	}
	if e == unix.EINVAL {
		fd, e = set(plain)
	}
	if e != 0 {
		return nil, fmt.Errorf("keep scripts as they were approved: %w", e)
	}
	return os.NewFile(fd, "questions"), nil
}

// notification is struct seccomp_notif.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// addition is struct seccomp_notif_addfd.
type addition struct {
	id       uint64
	flags    uint32
	src      uint32
	dst      uint32
	dstFlags uint32
}

// errGone: who asked has ended, or was interrupted.
var errGone = errors.New("nobody waits for the answer")

func control(fd int, request uintptr, arg unsafe.Pointer) (uintptr, error) {
	for {
		r, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
		switch e {
		case 0:
			return r, nil
		case unix.EINTR:
		case unix.ENOENT:
			return 0, errGone
		default:
			return 0, e
		}
	}
}
