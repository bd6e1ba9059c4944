package gatewaytest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// bundle is the building of hearth-channels, once for all tests of a package.
var bundle struct {
	once sync.Once
	err  error
}

const bundleName = "hearth-channels"

// Channels puts the real hearth-channels beside the real program, where a gateway
// looks for it. Beside the program of build/test it was put by that.
func Channels(t testing.TB) {
	t.Helper()
	path := filepath.Join(filepath.Dir(Binary(t)), bundleName)
	if os.Getenv("HEARTH_FAILPOINT_PROGRAM") != "" {
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("HEARTH_FAILPOINT_PROGRAM is set, and hearth-channels is not beside that program: %v", err)
		}
		return
	}
	ChannelsIn(t, filepath.Dir(path))
}

// ChannelsIn puts the real hearth-channels into a folder, the same one for all tests of
// a package.
func ChannelsIn(t testing.TB, dir string) {
	t.Helper()
	bundle.once.Do(func() {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, bundleName), "github.com/hearth-assistant/hearth/app/channels")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			bundle.err = fmt.Errorf("build hearth-channels: %w\n%s", err, out)
		}
	})
	if bundle.err != nil {
		t.Fatal(bundle.err)
	}
}
