//go:build linux

package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const (
	nobody   = 65534
	againEnv = "HEARTH_TEST_AGAIN"
	again    = "-test.run=^(TestSec_A_EXEC_1|TestSec_A_EXEC_24_N|TestRights|TestNothing|TestTerminal|TestPinned)"
)

// Root may do what others may not, so what depends on that is tested once more
// by somebody else, and then in a container, where nobody may make namespaces.
func TestAsSomebodyElse(t *testing.T) {
	if os.Getuid() != 0 || os.Getenv(againEnv) != "" {
		t.Skip("only root can become somebody else")
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	self, temp := filepath.Join(dir, "process.test"), filepath.Join(dir, "tmp")
	b, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(self, b, 0o755)
	}
	if err == nil {
		err = os.Mkdir(temp, 0o700)
	}
	if err == nil {
		err = os.Chown(temp, nobody, nobody)
	}
	if err != nil {
		t.Fatal(err)
	}
	commands := [][]string{{self, again, "-test.short"}}
	if bwrap, err := exec.LookPath("bwrap"); err == nil {
		commands = append(commands, append([]string{bwrap, "--dev-bind", "/", "/", "--unshare-user", "--disable-userns"}, commands[0]...))
	} else if os.Getenv("HEARTH_REQUIRE_SANDBOX") != "" {
		t.Error("bwrap is missing; on Debian: apt-get install bubblewrap")
	}
	for _, c := range commands {
		cmd := exec.CommandContext(t.Context(), c[0], c[1:]...)
		cmd.Dir, cmd.Env = temp, []string{"TMPDIR=" + temp, "PATH=/usr/bin:/bin", againEnv + "=1", "HEARTH_REQUIRE_SANDBOX=1"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", strings.Join(c, " "), err, out)
		}
	}
}
