package safepath

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// kernelFile reports files that the kernel makes up, wherever they are mounted.
func kernelFile(f *os.File) bool {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return false
	}
	made := []int64{
		unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC,
		unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.BPF_FS_MAGIC, unix.EFIVARFS_MAGIC,
	}
	return slices.Contains(made, int64(st.Type)) //nolint:unconvert // its type differs by machine
}
