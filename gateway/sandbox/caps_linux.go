package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// keptRights are what root needs to work with files as usual. All others go,
// because some lead around Landlock: with CAP_PERFMON every program's
// variables can be read.
const keptRights = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID |
	1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID

// dropRights takes them from the calling thread; without new privileges
// nothing gives them back.
func dropRights() error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if keptRights&(1<<c) == 0 {
			// Who may not do this has none of these rights to begin with.
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&head, &sets[0]); err != nil {
		return fmt.Errorf("read the rights of a command: %w", err)
	}
	for i, mask := range [2]uint32{keptRights, 0} {
		sets[i].Effective &= mask
		sets[i].Permitted &= mask
		sets[i].Inheritable = 0
	}
	if err := unix.Capset(&head, &sets[0]); err != nil {
		return fmt.Errorf("give up rights: %w", err)
	}
	return nil
}
