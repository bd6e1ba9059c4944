package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	deviceRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV |
		unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	// noDevices: a folder to write to is no place to make devices in.
	noDevices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// The versions of Landlock that brought what we ask for.
const (
	abiRefer    = 2
	abiTruncate = 3
	abiNetwork  = 4
	abiDevices  = 5
	abiScopes   = 6
)

// systemRead is what programs need to run at all.
var systemRead = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap",
	"/proc", "/sys", "/var/lib/dpkg", "/var/lib/ca-certificates", "/run/systemd/resolve", "/run/resolvconf"}

// systemHide lies inside of it and is nobody's business.
var systemHide = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh",
	"/etc/ssl/private", "/etc/NetworkManager/system-connections", "/etc/krb5.keytab", "/sys/kernel/debug", "/sys/kernel/tracing"}

// devices may be used as they are; there is nothing to steal from them.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}

// abi asks the kernel for its version of Landlock; 0 is none.
func abi() int {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(v)
}

func handledFiles(version int) uint64 {
	rights := uint64(1<<13 - 1) // version 1: execute to make_sym
	if version >= abiRefer {
		rights |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= abiTruncate {
		rights |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= abiDevices {
		rights |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return rights
}

// ruleset is struct landlock_ruleset_attr.
type ruleset struct{ files, network, scoped uint64 }

// landlock restricts the calling thread and all that it starts.
func landlock(r Rules, version int) error {
	attr := ruleset{files: handledFiles(version)}
	size := unsafe.Sizeof(attr.files)
	if version >= abiNetwork {
		size += unsafe.Sizeof(attr.network)
		if !r.Network {
			attr.network = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
	}
	if version >= abiScopes {
		size += unsafe.Sizeof(attr.scoped)
		attr.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return fmt.Errorf("make the rules of the sandbox: %w", e)
	}
	defer func() { _ = unix.Close(int(fd)) }()
	hide := realAll(slices.Concat(systemHide, r.Hide))
	for _, part := range []struct {
		paths  []string
		rights uint64
	}{
		{carveAll(realAll(slices.Concat(systemRead, r.Read)), hide), readRights},
		{devices, deviceRights},
	} {
		for _, p := range part.paths {
			if err := allow(int(fd), p, part.rights&attr.files); err != nil {
				return err
			}
		}
	}
	if err := r.allowWrites(int(fd), hide, attr.files&^noDevices); err != nil {
		return err
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); e != 0 {
		return fmt.Errorf("enter the sandbox: %w", e)
	}
	return nil
}

// allowWrites grants what may be changed.
func (r Rules) allowWrites(set int, hide []string, rights uint64) error {
	for _, w := range r.writes() {
		for _, p := range carve(w, hide) {
			if id, known := r.Same[p]; known {
				if err := allowSame(set, p, id, rights&^moving(r.kept(p))); err != nil {
					return err
				}
			} else if err := allow(set, p, rights&^moving(r.kept(p))); err != nil {
				return err
			}
			for _, below := range r.around(p) {
				if err := allow(set, below, rights&^moving(r.kept(below))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// moving is what a grant does not hold where something below has to stay: the
// right to take folders away counts for all folders in it.
func moving(kept []string) uint64 {
	if len(kept) == 0 {
		return 0
	}
	return unix.LANDLOCK_ACCESS_FS_REMOVE_DIR
}

// around are the folders beside and above those that have to stay; they get
// grants of their own, with the rights that the one above them lacks.
func (r Rules) around(p string) []string {
	if len(r.kept(p)) == 0 {
		return nil
	}
	entries, err := os.ReadDir(p)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			c := filepath.Join(p, e.Name())
			out = append(append(out, c), r.around(c)...)
		}
	}
	return out
}

// beneath is struct landlock_path_beneath_attr, which is packed: the kernel
// reads its first 12 bytes.
type beneath struct {
	rights uint64
	fd     int32
}

func allow(set int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // what is not there needs no grant
	}
	defer func() { _ = unix.Close(fd) }()
	return allowOpen(set, fd, path, rights)
}

// allowSame is allow for exactly one folder, at the end of no link.
func allowSame(set int, path string, id ID, rights uint64) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return fmt.Errorf("let a command use %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if (ID{st.Dev, st.Ino}) != id {
		return fmt.Errorf("%s is not the folder any more that it was a moment ago, so nothing was started", path)
	}
	return allowOpen(set, fd, path, rights)
}

func allowOpen(set, fd int, path string, rights uint64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	attr := beneath{rights: rights, fd: int32(fd)}
	_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0,
		0)
	if e != 0 {
		return fmt.Errorf("let a command use %s: %w", path, e)
	}
	return nil
}

// Enter confines the calling thread, which must be locked to its goroutine,
// and every process that it starts from now on. There is no way back: let the
// thread end with its goroutine.
func Enter(r Rules) error {
	version := abi()
	if version == 0 || !filters() {
		return fmt.Errorf("%w: %s", ErrUnavailable, Probe().Words[0])
	}
	if err := r.same(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new rights: %w", err)
	}
	if err := landlock(r, version); err != nil {
		return err
	}
	if err := dropRights(); err != nil {
		return err
	}
	return seccomp(filter(r.Network, version))
}

// Wrap returns the command that runs argv confined. On Linux that is argv
// itself: the thread that starts it calls Enter.
func Wrap(_ Rules, argv []string) ([]string, error) { return argv, nil }

// Probe says what holds here.
func Probe() Report {
	version := abi()
	switch {
	case version == 0:
		words := "This kernel has no Landlock, or it is switched off."
		if _, err := os.Stat("/sys/kernel/security/lsm"); err == nil {
			words += " Add landlock to the kernel's lsm= list to confine commands."
		}
		return Report{Words: []string{words}}
	case !filters():
		return Report{Words: []string{"This kernel cannot filter system calls (seccomp)."}}
	}
	r := Report{Backend: "landlock", ABI: version, Confined: true, Words: []string{
		"Commands change files only in their workspace and a folder of their own for temporary files.",
		"They read the system's programs, not your home folder, and nothing that Hearth keeps.",
		"They reach no network unless it is allowed, and no keychain, desktop or other local service.",
		"They can still see that a file exists, and change its mode where it is yours: Landlock does not cover that.",
	}}
	if version < abiScopes {
		r.Words = append(r.Words, "This kernel is too old to keep them from sending signals to your other programs (Linux 6.12 can).")
	}
	return r
}
