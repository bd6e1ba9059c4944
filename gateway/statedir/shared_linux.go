package statedir

import "golang.org/x/sys/unix"

// sharedKinds are file systems of other machines, where neither the lock that
// keeps a second gateway out nor a flush that a database relies on is sure to do
// what it says.
var sharedKinds = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "a network folder (NFS)",
	unix.SMB_SUPER_MAGIC:  "a network folder (SMB)",
	unix.CIFS_SUPER_MAGIC: "a network folder (SMB)",
	unix.SMB2_SUPER_MAGIC: "a network folder (SMB)",
	unix.AFS_SUPER_MAGIC:  "a network folder (AFS)",
	unix.CEPH_SUPER_MAGIC: "a network folder (Ceph)",
	unix.V9FS_MAGIC:       "a folder of another system (9P, as a Windows drive under WSL is)",
}

// Shared says of what kind the folder is when it is on another machine or
// another system; "" when it is this machine's own, or that cannot be known.
func (d Dir) Shared() string {
	var st unix.Statfs_t
	if err := unix.Statfs(string(d), &st); err != nil {
		return ""
	}
	return sharedKinds[uint32(st.Type)]
}
