package beside

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

func TestIn(t *testing.T) {
	for system, want := range map[string]string{"linux": "hearth", "darwin": "hearth", "windows": "hearth.exe"} {
		if got := filepath.Base(in("x", "hearth", system)); got != want {
			t.Errorf("%s: %s, want %s", system, got, want)
		}
	}
}

// The test's own program is started through a link in another folder: what lies
// beside the program is found, what lies beside the link is not.
func TestALinkIsFollowed(t *testing.T) {
	if os.Getenv("BESIDE_CHILD") != "" {
		path, ok := Find("hearth-window")
		if !ok {
			path = "none"
		}
		_, _ = os.Stdout.WriteString(path)
		os.Exit(0)
	}
	if runtime.GOOS == "windows" {
		t.Skip("making links needs rights of its own")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	install, links := t.TempDir(), t.TempDir()
	b, err := os.ReadFile(exe)
	if err == nil {
		err = os.WriteFile(filepath.Join(install, "program"), b, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(install, "hearth-window"), nil, 0o700)
	}
	if err == nil {
		err = os.Symlink(filepath.Join(install, "program"), filepath.Join(links, "program"))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(links, "hearth-window"), nil, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(links, "program"), "-test.run", "TestALinkIsFollowed")
	cmd.Env = append(os.Environ(), "BESIDE_CHILD=1")
	out, err := cmd.Output()
	real, _ := filepath.EvalSymlinks(install)
	if err != nil || string(out) != filepath.Join(real, "hearth-window") {
		t.Errorf("%s, %v", out, err)
	}
}
