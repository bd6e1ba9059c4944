package attachment_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/attachment"
)

// A name that somebody chose becomes one harmless name.
func TestSec_A_FILE_01_NamesOfSentFiles(t *testing.T) {
	for in, want := range map[string]string{
		"photo.jpg": "photo.jpg", "../../.bashrc": "bashrc", `C:\x\a b.txt`: "a_b.txt", "": "file", "...": "file", ".env": "env",
		"a\u202egpj.exe": "agpj.exe",
		"x\x00y\n.md":    "xy_.md", "Größe 你好.pdf": "Größe_你好.pdf", strings.Repeat("n", 300) + ".txt": strings.Repeat("n", 76) + ".txt",
		"CON": "CON",
	} {
		if got := attachment.Name(in, ""); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if got := attachment.Name("voice", "audio/ogg"); got != "voice.ogg" {
		t.Errorf("%q", got)
	}
}

// The same file again is kept once, another one of the same name beside it, no
// link leads out of the folder, and the folder has a limit.
func TestSec_A_FILE_01_FolderOfSentFiles(t *testing.T) {
	root := t.TempDir()
	f := attachment.Folder{Root: root, Dir: "inbox", Max: 100}
	for _, tc := range []struct{ data, want string }{{"one", "a.txt"}, {"one", "a.txt"}, {"two", "a-2.txt"}, {"two", "a-2.txt"}} {
		if got, err := f.Keep("a.txt", []byte(tc.data)); got != tc.want || err != nil {
			t.Errorf("%q is kept as %q, %v", tc.data, got, err)
		}
	}
	if _, err := f.Keep("b.txt", make([]byte, 200)); err == nil {
		t.Error("more is kept than may be")
	}
	if runtime.GOOS == "windows" {
		return
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root, "linked")); err != nil {
		t.Fatal(err)
	}
	f.Dir = "linked"
	if name, err := f.Keep("c.txt", []byte("x")); err == nil {
		t.Errorf("kept as %s through a link", name)
	}
	f.Dir = "inbox"
	if err := os.Symlink(filepath.Join(outside, "made"), filepath.Join(root, "inbox", "l.txt")); err != nil {
		t.Fatal(err)
	}
	if name, err := f.Keep("l.txt", []byte("x")); err != nil || name != "l-2.txt" {
		t.Errorf("%q, %v", name, err)
	}
	if left, _ := os.ReadDir(outside); len(left) != 0 {
		t.Errorf("written outside: %v", left)
	}
}
