package cli

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What is no file (a pipe, a device) is written to, and stays what it is.
func TestExportIntoAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	end, err := os.OpenFile(path, os.O_RDWR, 0) // opening it waits for nobody
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	if err := writeWhole(path, func(w io.Writer) error { _, err := io.WriteString(w, "words"); return err }); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Type() != fs.ModeNamedPipe {
		t.Fatalf("the pipe is %v (%v)", st.Mode(), err)
	}
	said := make([]byte, 5)
	if _, err := io.ReadFull(end, said); err != nil || string(said) != "words" {
		t.Errorf("%q %v", said, err)
	}
}
