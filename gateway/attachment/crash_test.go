package attachment_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/attachment"
	"github.com/hearth-assistant/hearth/internal/seed"
)

const keeperRoot = "HEARTH_TEST_KEEPER"

// Killed while files are kept, at whatever moment: a name that anybody sees stands
// for a whole file, and what was begun is removed later.
func TestFault_F_CRASH_16_KilledWhileAFileIsKept(t *testing.T) {
	content := func(n int) []byte { return bytes.Repeat(fmt.Appendf(nil, "file %d.", n), 100_000+n) }
	if root := os.Getenv(keeperRoot); root != "" {
		fmt.Println("begins")
		for n := 0; ; n++ {
			if _, err := (attachment.Folder{Root: root, Dir: "inbox"}).Keep(fmt.Sprintf("%d.bin", n%20), content(n%20)); err != nil {
				t.Fatal(err)
			}
			if n%20 == 19 {
				_ = os.RemoveAll(filepath.Join(root, "inbox"))
			}
		}
	}
	f := attachment.Folder{Root: t.TempDir(), Dir: "inbox"}
	inbox := filepath.Join(f.Root, f.Dir)
	parts, rnd := 0, seed.New(t)
	for range 12 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFault_F_CRASH_16_KilledWhileAFileIsKept$")
		cmd.Env = append(os.Environ(), keeperRoot+"="+f.Root)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 1)) // it has begun
		<-time.After(time.Duration(rnd.IntN(40_000)) * time.Microsecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		list, err := os.ReadDir(inbox)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, e := range list {
			at := filepath.Join(inbox, e.Name())
			if strings.HasPrefix(e.Name(), ".part-") {
				parts++
				long := time.Now().Add(-2 * time.Hour)
				_ = os.Chtimes(at, long, long)
				continue
			}
			var n int
			got, _ := os.ReadFile(at)
			if _, err := fmt.Sscanf(e.Name(), "%d.bin", &n); err != nil || !bytes.Equal(got, content(n)) {
				t.Errorf("%s is a part of a file: %d bytes, %v", e.Name(), len(got), err)
			}
		}
	}
	if _, err := f.Keep("last.txt", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(inbox, ".part-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	t.Logf("%d files were cut short", parts)
}
