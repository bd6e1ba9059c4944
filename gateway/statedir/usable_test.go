package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file in the place of the folder is told as one, whatever is wanted of the folder.
func TestAFileIsNoFolder(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "state"))
	if err := d.Look(); err != nil {
		t.Errorf("a folder that is not there yet: %v", err)
	}
	if err := os.WriteFile(string(d), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, read := d.ReadRuntime()
	for what, err := range map[string]error{"ensure": d.Ensure(), "look": d.Look(), "write": d.Writable(), "read": read} {
		var unusable *FolderError
		if !errors.As(err, &unusable) || !strings.Contains(err.Error(), string(d)) || !strings.HasSuffix(err.Error(), ": it is a file") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Looking leaves nothing behind.
func TestAFolderThatCanBeUsed(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "state"))
	if err := d.Ensure(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Look(), d.Writable()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(string(d)); len(left) != 0 || err != nil {
		t.Errorf("%v %v", left, err)
	}
}
