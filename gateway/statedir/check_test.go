package statedir

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSec_A_SEC_08_OpenFilesAreMadePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes on Windows")
	}
	d := Dir(filepath.Join(t.TempDir(), "state"))
	if err := d.Ensure(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hearth.db", "gateway.token", "device.key", "secrets.vault", "gateway.log", "hearth.json", "mine.txt"} {
		if err := os.WriteFile(d.path(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"hearth.db", "secrets.vault", "hearth.json", "mine.txt"} {
		if err := os.Chmod(d.path(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	fixed, err := d.Tighten()
	if diff := cmp.Diff([]string{"hearth.db", "secrets.vault"}, fixed); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for name, want := range map[string]os.FileMode{"hearth.db": 0o600, "secrets.vault": 0o600, "mine.txt": 0o666} {
		if info, err := os.Stat(d.path(name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

func TestSec_A_SEC_08_FolderThatOthersCanReplace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders have no modes on Windows")
	}
	parent := t.TempDir()
	d := Dir(filepath.Join(parent, "state"))
	if err := d.Ensure(); err != nil {
		t.Fatal(err)
	}
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(parent, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := d.Check(); err == nil {
		t.Error("a folder that everybody could replace was taken")
	}
	if err := os.Chmod(parent, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if err := d.Check(); err != nil {
		t.Error("like /tmp:", err)
	}
}

func TestSec_A_SEC_13_SyncedFolders(t *testing.T) {
	for dir, want := range map[Dir]string{
		"/home/a/Dropbox/hearth": "Dropbox", "/home/a/OneDrive - Work/x": "OneDrive", "/Users/a/Library/Mobile Documents/h": "iCloud",
		"/Users/a/Library/CloudStorage/Box/h": "a cloud drive", "/home/a/Google Drive/h": "Google Drive", "/home/a/.local/share/hearth": "",
		"/home/dropboxer/x": "",
	} {
		if got := dir.Synced(); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
	real := filepath.Join(t.TempDir(), "Dropbox", "h")
	if err := os.MkdirAll(real, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	if got := Dir(link).Synced(); got != "Dropbox" {
		t.Errorf("through a link: %q", got)
	}
}
