package bootclock_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/bootclock"
)

const asks = "HEARTH_TEST_BOOTCLOCK" // a child says its clock and ends

func TestMain(m *testing.M) {
	if os.Getenv(asks) != "" {
		d, ok := bootclock.Now()
		fmt.Println(d, ok)
		return
	}
	os.Exit(m.Run())
}

// Where the kernel has slept for a day longer, the clock says so, and the time that
// timers go by does not: a namespace whose boot clock is set ahead is such a place.
func TestSleepIsCounted(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const slept = 24 * time.Hour
	ahead := fmt.Sprint(int(slept.Seconds()))
	c := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--time", "--boottime", ahead, self)
	c.Env = append(os.Environ(), asks+"=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Skipf("there are no namespaces of time here: %v: %s", err, out)
	}
	now, _ := bootclock.Now()
	said, _, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	there, err := time.ParseDuration(said)
	if err != nil {
		t.Fatalf("it said %q", out)
	}
	if d := there - now; d < slept-time.Minute || d > slept {
		t.Errorf("the clock there is %v ahead, want %v", d, slept)
	}
}
