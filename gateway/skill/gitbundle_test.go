package skill

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bundleOf makes a bundle with the real git.
func bundleOf(t *testing.T, change func(dir string)) []byte {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), git, args...)
		c.Dir, c.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	run("init", "-q")
	text := md("bundled", "") + strings.Repeat("a line of many that stay the same\n", 200)
	for i := range 3 { // a history, so that there are deltas
		if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text+strings.Repeat("x", i)), 0o644); err != nil {
			t.Fatal(err)
		}
		if i == 2 && change != nil {
			change(dir)
		}
		run("add", "-A")
		run("commit", "-q", "-m", "m")
	}
	run("gc", "-q")
	run("bundle", "create", "-q", "s.bundle", "HEAD")
	data, err := os.ReadFile(filepath.Join(dir, "s.bundle"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestGitBundle(t *testing.T) {
	data := bundleOf(t, func(dir string) {
		if err := os.MkdirAll(filepath.Join(dir, "scripts"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "scripts", "a.sh"), []byte("echo"), 0o755); err != nil {
			t.Fatal(err)
		}
	})
	got, err := Unpack(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Path != FileName || !strings.HasSuffix(string(got[0].Data), "\nxx") || got[1].Path != "scripts/a.sh" ||
		!got[1].Executable {
		t.Errorf("%d files: %+v", len(got), got[1:])
	}
	for i := 0; i < len(data); i += max(1, len(data)/200) {
		bad := append([]byte{}, data...)
		bad[i] ^= 0x10
		if _, err := Unpack(bad); err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
}

func TestSec_A_SKILL_07_LinkInABundle(t *testing.T) {
	data := bundleOf(t, func(dir string) {
		if err := os.Symlink("/etc/passwd", filepath.Join(dir, "key")); err != nil {
			t.Skip("no links here")
		}
	})
	if _, err := Unpack(data); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v", err)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("# v2 git bundle\n0123456789012345678901234567890123456789 HEAD\n\nPACK\x00\x00\x00\x02\x00\x00\x00\x00"))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := Unpack(data); err != nil && !errors.Is(err, ErrInvalid) {
			t.Error(err)
		}
	})
}
