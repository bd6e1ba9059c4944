package pinned

import "golang.org/x/sys/unix"

const x32 = 0x40000000

var machines = []numbers{
	{unix.AUDIT_ARCH_X86_64, map[uint32]call{
		unix.SYS_OPEN: open, unix.SYS_OPENAT: openat, unix.SYS_OPENAT2: openat2, unix.SYS_EXECVE: exec, unix.SYS_EXECVEAT: execat,
		unix.SYS_READLINK: link, unix.SYS_READLINKAT: linkat,
	}, unix.SYS_IO_URING_SETUP},
	{unix.AUDIT_ARCH_I386, map[uint32]call{5: open, 295: openat, 437: openat2, 11: exec, 358: execat, 85: link, 305: linkat}, 425},
}
