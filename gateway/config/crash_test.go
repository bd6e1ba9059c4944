package config

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/internal/seed"
)

// TestCrashChild is not a test: it is the process that TestFault_F_CRASH_15
// kills. It edits without end and says which edits were acknowledged.
func TestCrashChild(t *testing.T) {
	path := os.Getenv("HEARTH_TEST_CRASH_CHILD")
	if path == "" {
		t.Skip("only as a child process")
	}
	f := open(t, path, Options{})
	for n := door(f.Snapshot().Config).Port + 1; n < 65536; n++ {
		if _, err := f.SetPath(t.Context(), "gateway.port", fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("ack %d\n", n)
	}
}

// TestFault_F_CRASH_15: a process killed at random points of its writes leaves
// a file that parses and is the old or the new one, its comments included.
func TestFault_F_CRASH_15_KillDuringWrite(t *testing.T) {
	kills := 60
	if testing.Short() {
		kills = 10
	}
	comment := "// " + strings.Repeat("kept ", 2000) + "\n"
	path := place(t, comment+"{ gateway: { port: 1 } }\n")
	rng := seed.Fixed(t, 5)
	acked := 1
	for i := range kills {
		acked = killedChild(t, path, acked, 1+rng.IntN(4), time.Duration(rng.IntN(4000))*time.Microsecond)
		f := open(t, path, Options{LastGoodPath: filepath.Join(t.TempDir(), "lg")})
		s := f.Snapshot()
		port := door(s.Config).Port
		if !s.Valid || port != acked && port != acked+1 {
			t.Fatalf("kill %d: acknowledged %d, the file holds %d: %v", i, acked, port, s.Problems())
		}
		if s.Raw != comment+fmt.Sprintf("{ gateway: { port: %d } }\n", port) {
			t.Fatalf("kill %d: the text is damaged, %d bytes", i, len(s.Raw))
		}
		if good := open(t, path+".last-good", Options{LastGoodPath: filepath.Join(t.TempDir(), "lg")}).Snapshot(); !good.Valid {
			t.Fatalf("kill %d: the last good copy is damaged: %v", i, good.Problems())
		}
		acked = port
	}
}

// killedChild lets a child edit, kills it some time after its n-th answer and
// returns the last edit it acknowledged.
func killedChild(t *testing.T, path string, acked, n int, wait time.Duration) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashChild$")
	cmd.Env = append(os.Environ(), "HEARTH_TEST_CRASH_CHILD="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for seen := 0; lines.Scan(); {
		v, ok := strings.CutPrefix(lines.Text(), "ack ")
		if !ok {
			continue
		}
		if acked, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
		if seen++; seen == n {
			kill := time.AfterFunc(wait, func() { _ = cmd.Process.Kill() })
			defer kill.Stop()
		}
	}
	_ = cmd.Wait()
	return acked
}
