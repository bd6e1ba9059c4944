package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	x32       = 0
)

var forbiddenHere = []uint32{unix.SYS_KEXEC_FILE_LOAD}
