package outbound

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// F-CRASH-10, F-CRASH-11: a process that is killed at every point of every
// message's way shows no message twice; what it had a receipt for is not sent
// again, and what it had none for is uncertain until a person decides.
func TestFault_F_CRASH_11_KilledAtEveryPoint(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	bin := filepath.Join(t.TempDir(), "kill")
	build := exec.Command("go", "build", "-tags", "failpoint", "-o", bin, "./testdata/kill")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	text, all := five()
	for n := 1; n <= 5; n++ {
		for point, tc := range map[string]struct {
			seen  int    // messages that people see in the end
			state string // what the next start says
		}{
			"beforeSend":   {n - 1, fmt.Sprintf("uncertain %d\n", n-1)},
			"afterSend":    {n, fmt.Sprintf("uncertain %d\n", n-1)},
			"afterReceipt": {5, "delivered 5\n"},
		} {
			t.Run(fmt.Sprintf("%s@%d", point, n), func(t *testing.T) {
				dir := t.TempDir()
				run := func(failpoint string) (string, error) {
					cmd := exec.Command(bin, dir, text)
					cmd.Env = []string{"HEARTH_FAILPOINT=" + failpoint}
					out, err := cmd.Output()
					return string(out), err
				}
				if out, err := run(fmt.Sprintf("%s@%d", point, n)); err == nil {
					t.Fatalf("it was not killed: %s", out)
				}
				for range 2 { // a second restart changes nothing
					if out, err := run(""); err != nil || out != tc.state {
						t.Fatalf("after the restart: %q, %v; want %q", out, err, tc.state)
					}
				}
				seen, err := os.ReadFile(filepath.Join(dir, "seen"))
				if err != nil && tc.seen > 0 {
					t.Fatal(err)
				}
				var want strings.Builder
				for _, m := range all[:tc.seen] {
					want.WriteString(m + "\n")
				}
				if diff := cmp.Diff(want.String(), string(seen)); diff != "" {
					t.Error("people see (-want +got):\n" + diff)
				}
			})
		}
	}
}
