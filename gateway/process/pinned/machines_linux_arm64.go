package pinned

import "golang.org/x/sys/unix"

const x32 = 0

var machines = []numbers{
	{unix.AUDIT_ARCH_AARCH64, map[uint32]call{
		unix.SYS_OPENAT: openat, unix.SYS_OPENAT2: openat2, unix.SYS_EXECVE: exec, unix.SYS_EXECVEAT: execat,
		unix.SYS_READLINKAT: linkat,
	}, unix.SYS_IO_URING_SETUP},
	{unix.AUDIT_ARCH_ARM, map[uint32]call{5: open, 322: openat, 437: openat2, 11: exec, 387: execat, 85: link, 332: linkat}, 425},
}
