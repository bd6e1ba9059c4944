package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Where struct seccomp_data holds what a filter looks at.
const (
	offNumber = 0
	offArch   = 4
	offArg0   = 16 // low half, little endian
	offArg1   = 24
)

const (
	namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	retErrno = 0x00050000
	retAllow = 0x7fff0000
)

// forbidden are calls that no command of an assistant needs, and that would
// lead around the rules: other ways to sockets (io_uring), the kernel's keys,
// other programs' memory, mounts, and the kernel itself.
var forbidden = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
	unix.SYS_FSMOUNT, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_CHROOT,
	unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_MQ_OPEN, unix.SYS_FANOTIFY_INIT,
}

// program is a filter under construction. Every rule is complete in itself, so
// that no jump reaches further than the next one.
type program []unix.SockFilter

func (p *program) load(offset uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
}

func (p *program) ret(action uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action})
}

// unless skips the next n instructions when the value is k.
func (p *program) unless(k uint32, n uint8) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: n, K: k})
}

// only skips the next n instructions when the value is not k.
func (p *program) only(k uint32, n uint8) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: n, K: k})
}

func (p *program) refuse(call uint32, errno unix.Errno) {
	p.only(call, 1)
	p.ret(retErrno | uint32(errno))
}

// filter is the list of system calls that are refused.
func filter(network bool, version int) []unix.SockFilter {
	var p program
	p.load(offArch)
	p.unless(auditArch, 1)
	p.ret(retErrno | uint32(unix.ENOSYS)) // another processor's calls have other numbers
	p.load(offNumber)
	if x32 != 0 {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jf: 1, K: x32})
		p.ret(retErrno | uint32(unix.ENOSYS))
	}
	for _, call := range forbidden {
		p.refuse(call, unix.EPERM)
	}
	for _, call := range forbiddenHere {
		p.refuse(call, unix.EPERM)
	}
	if version < abiTruncate { // later kernels see to it that only files in reach are cut
		p.refuse(unix.SYS_TRUNCATE, unix.EACCES)
	}
	p.refuse(unix.SYS_CLONE3, unix.ENOSYS) // its flags lie in memory; libraries then use clone

	p.only(unix.SYS_CLONE, 4)
	p.load(offArg0)
	p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: namespaceFlags})
	p.ret(retErrno | uint32(unix.EPERM))
	p.ret(retAllow)

	// Typing into the terminal that a command runs in would be typing for
	// whoever has it next.
	p.only(unix.SYS_IOCTL, 5)
	p.load(offArg1)
	p.only(unix.TIOCSTI, 1)
	p.ret(retErrno | uint32(unix.EPERM))
	p.only(unix.TIOCLINUX, 1)
	p.ret(retErrno | uint32(unix.EPERM))
	p.load(offNumber)

	p.sockets(network)
	p.ret(retAllow)
	return p
}

// sockets lets no local service be reached, keychain and desktop among them,
// and the network only when it is allowed. A pair of connected sockets inside
// a command is fine.
func (p *program) sockets(network bool) {
	if !network {
		p.refuse(unix.SYS_SOCKET, unix.EACCES)
		return
	}
	p.only(unix.SYS_SOCKET, 6)
	p.load(offArg0)
	p.unless(unix.AF_INET, 3)
	p.unless(unix.AF_INET6, 2)
	p.unless(unix.AF_NETLINK, 1)
	p.ret(retErrno | uint32(unix.EACCES))
	p.ret(retAllow)
}

// filters reports whether the kernel knows seccomp filters.
func filters() bool {
	_, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return err == nil && auditArch != 0
}

func seccomp(f []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return fmt.Errorf("filter system calls: %w", e)
	}
	return nil
}
