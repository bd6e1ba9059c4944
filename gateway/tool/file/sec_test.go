//go:build unix

package file

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
)

const canary = "CANARY-7f3a"

// attempts calls every tool that takes a path with it.
func attempts(w *world, p string) map[string]model.ToolResult {
	patch := func(body string) m { return m{"input": "*** Begin Patch\n" + body + "\n*** End Patch"} }
	w.put("plain.txt", "plain\n")
	return map[string]model.ToolResult{
		"read":   w.run("read", m{"path": p}),
		"write":  w.run("write", m{"path": p, "content": "pwned\n"}),
		"edit":   w.run("edit", m{"path": p, "oldText": canary, "newText": "pwned"}),
		"add":    w.run("apply_patch", patch("*** Add File: "+p+"\n+pwned")),
		"update": w.run("apply_patch", patch("*** Update File: "+p+"\n@@\n-"+canary+"\n+pwned")),
		"delete": w.run("apply_patch", patch("*** Delete File: "+p)),
		"move":   w.run("apply_patch", patch("*** Update File: plain.txt\n*** Move to: "+p+"\n@@\n-plain\n+pwned")),
	}
}

// snapshot is everything outside of the workspace.
func snapshot(t testing.TB, w *world) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(w.top, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p == w.work {
			return filepath.SkipDir
		}
		fmt.Fprintln(&b, p, d.Type())
		if d.Type().IsRegular() {
			raw, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			b.Write(raw)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func refused(t *testing.T, w *world, p string, never bool) {
	t.Helper()
	asked := len(w.asks)
	for name, r := range attempts(w, p) {
		if strings.TrimSpace(p) != p && name != "read" && name != "write" && name != "edit" {
			continue // a patch's line ends there
		}
		if !r.IsError {
			t.Errorf("%s %q went through: %s", name, p, r.Text)
		}
		if strings.Contains(r.Text, canary) && !strings.Contains(p, canary) {
			t.Errorf("%s %q told the canary: %s", name, p, r.Text)
		}
	}
	if never && len(w.asks) != asked {
		t.Errorf("%q: the owner was asked about %+v", p, w.asks[len(w.asks)-1])
	}
}

func TestSec_A_FILE_01_Paths(t *testing.T) {
	w := newWorld(t)
	secret := w.put(filepath.Join(w.top, "x"), canary+"\n")
	before := snapshot(t, w)
	long := strings.Repeat("a", 256)
	for _, p := range []string{
		"", " ", "../x", `..\x`, "//host/share", `\\host\share`, `\\?\C:\x`, `C:x`, `C:\x`, "C:/x", "~root", "~root/x", "file:///x", "file:x",
		"FILE:" + secret,
		"file://host/x", "file://" + secret, "%2e%2e/x", "..%c0%afx", "%2e%2e%2fx", "x/../../x", "./../x", "x//../../x", "a\x00b", "../x\x00.txt",
		"a\nb", "a\x1bb",
		"a\u202eb", "a\u200bb", "\ufeffa", "x.", "x ", "a/x./b", "a::$DATA", "@" + secret, "@~/x", "MEDIA:" + secret, "MEDIA:x", "http://x/y",
		long, "a/" + long,
		strings.Repeat("a/", 2048) + "x", "a\xff", "/proc/self/environ", "/proc/self/root/" + secret, "/dev/fd/3", "/dev/stdin", "/dev/zero",
		"/sys/kernel/mm",
		"/proc", "/x/../proc/self/environ", "~/../home/state/hearth.db", w.state + "/hearth.db", w.home + "/.ssh/id_ed25519", "/etc/shadow",
		w.home + "/.ssh/ID_RSA",
		w.home + "/.gnupg/x", w.home + "/.netrc", w.home + "/.config/google-chrome/Default/Cookies",
	} {
		refused(t, w, p, true)
	}
	// Outside: the owner is asked, under the true name, and nothing happens without a yes.
	for _, p := range []string{secret, "/x/../" + secret, w.work + "/../x", "~/x", "~"} {
		n := len(w.asks)
		refused(t, w, p, false)
		if len(w.asks) == n {
			t.Errorf("%q: nobody was asked", p)
		}
	}
	for _, a := range w.asks {
		if a.Path != filepath.Clean(a.Path) || !filepath.IsAbs(a.Path) || a.Reason == "" {
			t.Errorf("asked as %+v", a)
		}
	}
	if d := snapshot(t, w); d != before {
		t.Errorf("outside changed:\n%s\n%s", before, d)
	}
	// Names that are only odd belong to the workspace.
	for _, p := range []string{"COM¹x", "a b.txt", "@types/x.d.ts", "ünï/ço\u0308dé", "👩\u200d🚀.md", "..a", "a..b/c", "PROGRA~1",
		strings.Repeat("a", 240), "100%.txt", "@x"} {
		w.ok("write", m{"path": p, "content": p})
		if got := w.get(p); got != p {
			t.Errorf("%q holds %q", p, got)
		}
	}
	for _, p := range []string{"CON", "NUL.txt", "COM¹", "lpt1.log"} {
		w.fails("write", m{"path": p, "content": "x"}, "")
	}
}

func TestSec_A_FILE_02_Links(t *testing.T) {
	w := newWorld(t)
	secret := w.put(filepath.Join(w.top, "out", "secret"), canary+"\n")
	db := w.put(filepath.Join(w.state, "hearth.db"), canary+"\n")
	key := w.put(filepath.Join(w.home, ".ssh", "id_ed25519"), canary+"\n")
	conf := w.put(filepath.Join(w.home, "hearth.json"), canary+"\n")
	for name, to := range map[string]string{
		"file": secret, "dir": filepath.Dir(secret), "dangling": filepath.Join(w.top, "out", "new"), "rel": "../out/secret", "state": w.state,
		"loop": "loop", "proc": "/proc/self/environ", "root": "/", "chain": "dir/secret", "deep/up": "../../out", "db": db, "conf": conf,
		"cwd": "/proc/self/cwd", "dev": "/dev/zero",
	} {
		p := filepath.Join(w.work, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, p); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"harddb": db, "hardkey": key, "hardconf": conf} {
		if err := os.Link(to, filepath.Join(w.work, name)); err != nil {
			t.Fatal(err)
		}
	}
	before := snapshot(t, w)
	for _, p := range []string{
		"file", "dir/secret", "dangling", "rel", "state/hearth.db", "loop", "loop/x", "proc", "root" + secret, "chain", "deep/up/secret", "db",
		"conf",
		"cwd/x", "dev", "harddb", "hardkey", "hardconf",
	} {
		refused(t, w, p, true)
	}
	if d := snapshot(t, w); d != before {
		t.Errorf("outside changed:\n%s\n%s", before, d)
	}
	// Links that stay inside are followed, and a change goes to the file they name.
	w.put("real/a.txt", "one\n")
	for name, to := range map[string]string{"in": "real", "leaf": "real/a.txt", "abs": filepath.Join(w.work, "real", "a.txt")} {
		if err := os.Symlink(to, filepath.Join(w.work, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.ok("edit", m{"path": "in/a.txt", "oldText": "one", "newText": "two"})
	w.ok("edit", m{"path": "leaf", "oldText": "two", "newText": "three"})
	w.ok("edit", m{"path": "abs", "oldText": "three", "newText": "four"})
	if got := w.get("real/a.txt"); got != "four\n" {
		t.Error(got)
	}
	// A link outside is asked about under the name it leads to.
	if err := os.Symlink(secret, filepath.Join(w.top, "alias")); err != nil {
		t.Fatal(err)
	}
	w.fails("read", m{"path": filepath.Join(w.top, "alias")}, "said no")
	if a := w.asks[len(w.asks)-1]; a.Path != secret {
		t.Errorf("asked about %s", a.Path)
	}
	if err := os.Symlink(db, filepath.Join(w.top, "aliasdb")); err != nil {
		t.Fatal(err)
	}
	refused(t, w, filepath.Join(w.top, "aliasdb"), true)
}

// races is how often each swap is tried; HEARTH_RACES asks for more.
func races() int {
	if n, err := strconv.Atoi(os.Getenv("HEARTH_RACES")); err == nil {
		return n
	}
	return 300
}

// TestSec_A_FILE_03_Swap swaps a folder and a file for links while tools use them.
func TestSec_A_FILE_03_Swap(t *testing.T) {
	w := newWorld(t)
	w.put(filepath.Join(w.top, "out", "f"), canary+"\n")
	before := snapshot(t, w)
	dir, file := filepath.Join(w.work, "d"), filepath.Join(w.work, "l")
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.RemoveAll(dir)
			_ = os.Remove(file)
			if i%2 == 0 {
				_ = os.Symlink(filepath.Join(w.top, "out"), dir)
				_ = os.Symlink(filepath.Join(w.top, "out", "f"), file)
			} else {
				_ = os.Mkdir(dir, 0o755)
				_ = os.WriteFile(filepath.Join(dir, "f"), []byte("inside\n"), 0o644)
				_ = os.WriteFile(file, []byte("inside\n"), 0o644)
			}
		}
	})
	through := 0
	for range races() {
		for _, p := range []string{"d/f", "l"} {
			for _, r := range []model.ToolResult{
				w.run("read", m{"path": p}),
				w.run("write", m{"path": p, "content": "pwned\n"}),
				w.run("edit", m{"path": p, "oldText": canary, "newText": "pwned"}),
				w.run("apply_patch", m{"input": "*** Begin Patch\n*** Delete File: " + p + "\n*** End Patch"}),
			} {
				if strings.Contains(r.Text, canary) {
					t.Fatalf("read from outside: %s", r.Text)
				}
				if !r.IsError {
					through++
				}
			}
		}
	}
	close(stop)
	swapper.Wait()
	if d := snapshot(t, w); d != before {
		t.Errorf("outside changed:\n%s\n%s", before, d)
	}
	t.Logf("%d calls went through inside", through)
}

func TestSec_A_FILE_14_NoFiles(t *testing.T) {
	w := newWorld(t)
	mkfifo(t, filepath.Join(w.work, "fifo"))
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(w.work, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Mkdir(filepath.Join(w.work, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"fifo", "sock", "/dev/zero", "/dev/tty", "/proc/self/environ", "/proc/self/mem", "/proc/kmsg"} {
		refused(t, w, p, true)
	}
	w.fails("read", m{"path": "fifo"}, "it is a pipe")
	w.fails("edit", m{"path": "dir", "oldText": "a", "newText": "b"}, "it is a folder")
	for _, p := range []string{"fifo", "sock"} {
		if st, err := os.Lstat(filepath.Join(w.work, p)); err != nil || st.Mode().IsRegular() {
			t.Errorf("%s: %v %v", p, st, err)
		}
	}
}

func TestSec_A_EXEC_26_OtherDoors(t *testing.T) {
	for _, p := range []string{
		".git/hooks/pre-commit", ".git/config", "sub/.git/config", ".GIT/hooks/x", "bare.git/hooks/update", ".git", ".gi\u200dt/config", ".envrc",
		"a/.envrc", ".bashrc",
		".profile", ".zshenv", ".ZshRC", "Library/LaunchAgents/x.plist", ".config/systemd/user/x.service", ".ssh/authorized_keys",
		".config/autostart/x.desktop",
		"skills/x/SKILL.md", "skills/x/run.sh", ".agents/skills/x", "x/skill.md", ".husky/pre-commit", ".vscode/tasks.json",
		".config/fish/config.fish", ".gitmodules",
		"Documents/WindowsPowerShell/Microsoft.PowerShell_profile.ps1", "ｂare.git/config", ".ｅnvrc", ".local/bin/git",
	} {
		t.Run(p, func(t *testing.T) {
			w := newWorld(t)
			for name, r := range attempts(w, p) {
				if !r.IsError || name != "read" && name != "edit" && name != "update" && name != "delete" && !strings.Contains(r.Text, "said no") {
					t.Errorf("%s: error %t %q", name, r.IsError, r.Text)
				}
			}
			if len(w.asks) != 3 || len(w.kept) != 0 {
				t.Errorf("%d asks, %d kept", len(w.asks), len(w.kept))
			}
			for _, a := range w.asks {
				if !a.Change || a.Reason == "" || !strings.Contains(a.Diff, "+pwned") {
					t.Errorf("%+v", a)
				}
			}
			w.refuse = nil
			w.ok("write", m{"path": p, "content": canary + "\n"})
			w.refuse = os.ErrPermission
			w.fails("edit", m{"path": p, "oldText": canary, "newText": "pwned"}, "permission")
			w.fails("apply_patch", m{"input": "*** Begin Patch\n*** Delete File: " + p + "\n*** End Patch"}, "permission")
			w.ok("read", m{"path": p}) // reading inside of the workspace is free
		})
	}
	// What the workspace is for needs no yes.
	w := newWorld(t)
	w.refuse = nil
	for _, p := range []string{"AGENTS.md", "SOUL.md", "memory/2026-01-01.md", "src/git.go", "gitignore", "profile.txt", "my.github.io/x"} {
		w.ok("write", m{"path": p, "content": "x"})
	}
	if len(w.asks) != 0 {
		t.Errorf("asked: %+v", w.asks)
	}
}

// TestSec_A_EXEC_26_ThroughALink reaches a protected file by another name.
func TestSec_A_EXEC_26_ThroughALink(t *testing.T) {
	w := newWorld(t)
	w.put(".git/hooks/x", "old\n")
	for name, to := range map[string]string{"innocent": ".git/hooks", "leaf": ".git/hooks/x"} {
		if err := os.Symlink(to, filepath.Join(w.work, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"innocent/x", "leaf", "innocent/new"} {
		w.fails("write", m{"path": p, "content": "pwned"}, "said no")
	}
	if w.get(".git/hooks/x") != "old\n" {
		t.Error("it was changed")
	}
}

// TestSec_A_EXEC_21_OwnState: no tool reaches our settings and state, asked or
// not, also when they are inside of the workspace.
func TestSec_A_EXEC_21_OwnState(t *testing.T) {
	w := newWorld(t)
	w.refuse = nil
	db := w.put(filepath.Join(w.state, "hearth.db"), canary+"\n")
	conf := w.put(filepath.Join(w.home, "hearth.json"), canary+"\n")
	before := snapshot(t, w)
	for _, p := range []string{db, conf, w.state + "/new", w.state + "/a/b", "~/state/hearth.db", "~/hearth.json", w.home + "/x/../state/y"} {
		refused(t, w, p, true)
	}
	w.work = w.home // the state folder is inside now
	for _, p := range []string{"state/hearth.db", "state/x", "hearth.json", "state", "x/../state/y"} {
		refused(t, w, p, true)
	}
	w.work = w.state // and now it is the workspace itself
	for _, p := range []string{"hearth.db", "x/y"} {
		for name, r := range map[string]model.ToolResult{"read": w.run("read", m{"path": p}),
			"write": w.run("write", m{"path": p, "content": "x"})} {
			if !r.IsError {
				t.Errorf("%s %s: %s", name, p, r.Text)
			}
		}
	}
	w.work = filepath.Join(w.top, "work")
	_ = os.Remove(filepath.Join(w.home, "plain.txt")) // of the attempts
	if d := snapshot(t, w); d != before {
		t.Errorf("changed:\n%s\n%s", before, d)
	}
}

func mkfifo(t *testing.T, p string) {
	t.Helper()
	if err := syscall.Mkfifo(p, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
}
