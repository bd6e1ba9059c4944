package statedir

import (
	"strings"
	"testing"
)

// TestFault_F_DISK_06_FoldersOfOtherMachines: what the kernel calls a network's
// file system is told, what is this machine's own is not. (Folders that a
// service copies elsewhere: TestSec_A_SEC_13_SyncedFolders.)
func TestFault_F_DISK_06_FoldersOfOtherMachines(t *testing.T) {
	if got := Dir(t.TempDir()).Shared(); got != "" {
		t.Errorf("a folder of this machine is %q", got)
	}
	if got := Dir(t.TempDir() + "/none").Shared(); got != "" {
		t.Errorf("a folder that is not there is %q", got)
	}
	// The numbers of linux/magic.h and of the kernel's SMB client.
	for magic, want := range map[uint32]string{0x6969: "NFS", 0xff534d42: "SMB", 0xfe534d42: "SMB", 0x01021997: "9P", 0xef53: "",
		0x9123683e: "", 0x794c7630: "", 0x01021994: ""} {
		got := sharedKinds[magic]
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
}
