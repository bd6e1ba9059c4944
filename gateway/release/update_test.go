package release

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// From looking to the switch: all programs are of the new version, what was not in the
// archive came along, the way back is there, and the store was not touched.
func TestUpdate(t *testing.T) {
	p := newPublisher(t)
	p.release(7, "0.2.0", working(t, "0.2.0", ""), nil)
	h := newPerson(t, p)
	h.filled(50)
	before := sum(h.dir.Store())
	u := h.updater()
	var phases []string
	u.Told = func(p Progress) { phases = append(phases, p.Phase) }
	m, newer, err := u.Check(t.Context())
	if err != nil || !newer {
		t.Fatal(newer, err)
	}
	if err := u.Prepare(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if h.whole() != "0.1.0" {
		t.Error("it was switched before its time")
	}
	if err := u.Install.Switch("0.1.0", "0.2.0"); err != nil {
		t.Fatal(err)
	}
	if v := h.whole(); v != "0.2.0" {
		t.Error(v)
	}
	if sum(h.dir.Store()) != before {
		t.Error("the rehearsal changed the store")
	}
	if n, err := count(BeforeUpdate(h.dir)); err != nil || n != 50 {
		t.Errorf("the copy has %d messages: %v", n, err)
	}
	for _, gone := range []string{filepath.Join(string(h.dir), "rehearsal"), h.in.folder(".download")} {
		if _, err := os.Stat(gone); err == nil {
			t.Errorf("%s is left", gone)
		}
	}
	if err := u.Install.Return("0.1.0"); err != nil || h.whole() != "0.1.0" {
		t.Error("the way back:", err)
	}
	if !strings.Contains(strings.Join(phases, " "), PhaseStaging+" "+PhaseValidating) {
		t.Errorf("told: %v", phases)
	}
}

// A version that hangs, crashes, is another one or harms the copy is not installed,
// and it is said why.
func TestFault_F_UPG_01_BadVersionsDoNotPassTheRehearsal(t *testing.T) {
	for fault, says := range map[string]string{
		"hang": "did not answer", "crash": "panic: something", "nonsense": "hello", "version": "calls itself 9.9.9",
		"corrupt": "damaged it", "empty": "damaged it",
	} {
		t.Run(fault, func(t *testing.T) {
			p := newPublisher(t)
			p.release(7, "0.2.0", working(t, "0.2.0", "rehearsal:"+fault), nil)
			h := newPerson(t, p)
			h.filled(50)
			u := h.updater()
			m, _, err := u.Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := u.bring(t.Context(), m, m.Files[0]); err != nil {
				t.Fatal(err)
			}
			copied := BeforeUpdate(h.dir)
			if err := u.Copy(t.Context(), copied); err != nil {
				t.Fatal(err)
			}
			within := 20 * time.Second
			if fault == "hang" || fault == "nonsense" {
				within = time.Second
			}
			err = Rehearse(t.Context(), Rehearsal{Program: h.in.Program("0.2.0", "hearth"), Version: "0.2.0", Dir: h.dir, Copy: copied,
				Count: count, Within: within})
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%v", err)
			}
			if n, err := count(h.dir.Store()); h.whole() != "0.1.0" || err != nil || n != 50 {
				t.Errorf("something was changed: %d, %v", n, err)
			}
		})
	}
}

// The programs are those that were signed, whatever else is in the archive.
func TestSec_A_UPD_01_OnlySignedProgramsAreUnpacked(t *testing.T) {
	p := newPublisher(t)
	progs := map[string][]byte{"hearth": plain["hearth"], "hearth-channels": plain["hearth-channels"], "hearth-evil": []byte("evil")}
	m := p.release(7, "0.2.0", progs, nil)
	h := newPerson(t, p)
	u := h.updater()
	if err := u.bring(t.Context(), m, m.Files[0]); err != nil {
		t.Fatal(err)
	}
	if isFile(h.in.folder("0.2.0", "hearth-evil")) || isFile(h.in.folder("0.2.0", "README.md")) {
		t.Error("what was not listed was unpacked")
	}
	for name, edit := range map[string]func(*File){
		"another sum":  func(f *File) { f.Programs[0].SHA = digest([]byte("x")) },
		"another size": func(f *File) { f.Programs[0].Size++ },
		"one more": func(f *File) {
			f.Programs = append(f.Programs, Program{Name: "hearth-tray", Size: 1, SHA: digest(nil)})
		},
		"no such thing": func(f *File) { f.Name = "x.zip" },
	} {
		f := m.Files[0]
		f.Programs = append([]Program{}, f.Programs...)
		edit(&f)
		into, err := h.in.Downloads()
		if err != nil {
			t.Fatal(err)
		}
		archive, err := u.Source.Download(t.Context(), m.Files[0], into, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.in.Stage(t.Context(), archive, "0.3.0", f); err == nil || h.in.Has("0.3.0") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nothing is fetched during a pause, and nothing is replaced that somebody else owns.
func TestPausedAndOwned(t *testing.T) {
	p := newPublisher(t)
	p.release(7, "0.2.0", plain, nil)
	h := newPerson(t, p)
	u := h.updater()
	no := errors.New("paused")
	u.Paused = func() error { return no }
	if _, _, err := u.Check(t.Context()); !errors.Is(err, no) || len(p.asked) > 0 {
		t.Errorf("%v, asked for %v", err, p.asked)
	}
	for root, owner := range map[string]string{
		"/usr/sbin": "system's package manager", "/nix/store/abc-hearth/bin": "Nix", "/opt/homebrew/Cellar/hearth/1/bin": "Homebrew",
		"/Applications/Hearth.app/Contents/MacOS": "macOS", "/home/a/scoop/apps/hearth/1": "Scoop", "/snap/hearth/1": "snap",
	} {
		var owned *NotOurs
		in := Install{Root: root, system: "linux"}
		if err := in.Updatable(u.Env); !errors.As(err, &owned) || !strings.Contains(owned.Owner, owner) {
			t.Errorf("%s: %v", root, err)
		}
	}
	fake := t.TempDir()
	lists := filepath.Join(fake, "var/lib/dpkg/info")
	if err := os.MkdirAll(lists, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(lists, "hearth:amd64.list"), []byte("/.\n/opt/hearth/hearth\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if !owned(fake, "/opt/hearth/hearth") || owned(fake, "/opt/hearth/hear") {
		t.Error("dpkg's list is not read")
	}
}

// Programs on the path or in the folder have no say: nothing is started but the
// version that was verified.
func TestSec_A_UPD_02_NothingOnThePathIsStarted(t *testing.T) {
	p := newPublisher(t)
	p.release(7, "0.2.0", working(t, "0.2.0", ""), nil)
	h := newPerson(t, p)
	canary, bait := filepath.Join(t.TempDir(), "ran"), t.TempDir()
	for _, name := range []string{"git", "npm", "brew", "tar", "gzip", "sh", "dpkg", "apt", "hearth", "gpg", "minisign", "curl"} {
		if err := os.WriteFile(filepath.Join(bait, name), []byte("#!/bin/sh\necho "+name+" >> "+canary+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bait)
	t.Chdir(bait)
	u := h.updater()
	m, _, err := u.Check(t.Context())
	if err == nil {
		err = u.Prepare(t.Context(), m)
	}
	if err == nil {
		err = h.in.Switch("0.1.0", "0.2.0")
	}
	if err != nil {
		t.Fatal(err)
	}
	if ran, err := os.ReadFile(canary); err == nil {
		t.Errorf("started: %s", ran)
	}
}

// An update is killed at every step. All programs are then of one version, and the
// next try goes on to the end.
func TestFault_F_UPG_02_KilledAtEveryStep(t *testing.T) {
	progs := working(t, "0.2.0", "")
	bin := filepath.Join(t.TempDir(), "kill")
	cmd := exec.Command("go", "build", "-tags", "failpoint", "-o", bin, "./testdata/kill")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := newPublisher(t)
	p.release(7, "0.2.0", progs, nil)
	try := func(h *person, failpoint string) (string, error) {
		cmd := exec.CommandContext(t.Context(), bin, h.in.Root, string(h.dir), p.url, "1:"+p.roots[0].text)
		cmd.Env = append(os.Environ(), "HEARTH_FAILPOINT="+failpoint)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	kills, versions := 0, map[string]int{}
	for _, point := range []string{
		"update:piece", "update:downloaded", "update:program", "update:unpacked", "update:staged", "update:copied", "update:rehearse",
		"update:rehearsed", "update:noted", "update:adopted", "update:link", "update:entry", "update:switch", "update:switched",
	} {
		for n := 1; ; n++ {
			h := newPerson(t, p)
			h.filled(5)
			out, err := try(h, point+"@"+strconv.Itoa(n))
			if err == nil {
				if n == 1 {
					t.Errorf("%s was never reached", point)
				}
				break // there is no such step any more
			}
			var ended *exec.ExitError
			if !errors.As(err, &ended) || ended.ExitCode() != -1 {
				t.Fatalf("%s@%d: it was not killed: %v %s", point, n, err, out)
			}
			kills++
			versions[h.whole()]++
			if got, err := count(h.dir.Store()); err != nil || got != 5 {
				t.Errorf("%s@%d: %d messages, %v", point, n, got, err)
			}
			if st, err := Read(h.dir); err != nil || st.Trial == nil && h.whole() == "0.2.0" {
				t.Errorf("%s@%d: the new version is there and nobody watches it (%v)", point, n, err)
			}
			if out, err := try(h, ""); err != nil || h.whole() != "0.2.0" {
				t.Errorf("%s@%d: the next try: %v %s", point, n, err, out)
			}
			if !h.in.Has("0.1.0") {
				t.Errorf("%s@%d: the version before is gone", point, n)
			}
			if n > 3 && point == "update:piece" {
				break
			}
		}
	}
	t.Logf("%d kills; programs then: %v", kills, versions)
}

// A disk that is full at some step: nothing was changed, it is said, and what was
// taken is given back.
func TestFault_F_UPG_02_FullDisk(t *testing.T) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("a small disk can be made by root on Linux only")
	}
	progs := working(t, "0.2.0", "")
	p := newPublisher(t)
	m := p.release(7, "0.2.0", progs, nil)
	for _, kb := range []int{64, 3000, 9000} {
		h := newPerson(t, p)
		root := filepath.Join(t.TempDir(), "disk")
		if err := os.Mkdir(root, 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+strconv.Itoa(kb)+"k", "tmpfs", root).CombinedOutput(); err != nil {
			t.Skipf("%v %s", err, out)
		}
		t.Cleanup(func() { _ = exec.Command("umount", root).Run() })
		for _, name := range []string{"hearth", "hearth-channels", "hearth-other"} {
			if err := os.WriteFile(filepath.Join(root, name), []byte(name+" 0.1.0"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		h.in = At(filepath.Join(root, "hearth"))
		u := h.updater()
		err := room(root, m.Files[0])
		if err == nil || !strings.Contains(err.Error(), "Make room") {
			t.Errorf("%d KB: it is not seen before: %v", kb, err)
		}
		// And where it fills meanwhile:
		into, err := h.in.Downloads()
		if err != nil {
			t.Fatal(err)
		}
		archive, err := u.Source.Download(t.Context(), m.Files[0], into, nil)
		if err == nil {
			err = h.in.Stage(t.Context(), archive, "0.2.0", m.Files[0])
		}
		if kb < 9000 && (err == nil || !strings.Contains(err.Error(), "the disk is full")) {
			t.Errorf("%d KB: %v", kb, err)
		}
		if h.whole() != "0.1.0" || err != nil && h.in.Has("0.2.0") {
			t.Errorf("%d KB: something was changed", kb)
		}
		if left, _ := filepath.Glob(filepath.Join(root, versions, ".download", "*.part")); err != nil && len(left) > 0 {
			t.Errorf("%d KB: the room is not given back: %v", kb, left)
		}
	}
}

// The trial: three crashes within five minutes are too many, two are not, and neither
// are three over a longer time.
func TestFault_F_UPG_01_CrashesAreCounted(t *testing.T) {
	start := time.Now()
	for name, c := range map[string]struct {
		at   []time.Duration
		want bool
	}{
		"two":                       {[]time.Duration{0, time.Second}, false},
		"three":                     {[]time.Duration{0, time.Minute, 4 * time.Minute}, true},
		"three over long":           {[]time.Duration{0, 3 * time.Minute, 6 * time.Minute}, false},
		"three of five are near":    {[]time.Duration{0, 6 * time.Minute, 12 * time.Minute, 13 * time.Minute, 14 * time.Minute}, true},
		"a clock that is set back":  {[]time.Duration{0, -time.Hour, -2 * time.Hour}, false},
		"one, long after the start": {[]time.Duration{4 * time.Minute}, false},
	} {
		tr, got := Trial{}, false
		for _, d := range c.at {
			got = tr.Crash(start.Add(d))
		}
		if got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	tr := Trial{}
	for range CrashLimit + 1 {
		if tr.Begin() {
			t.Fatal("too early")
		}
	}
	if !tr.Begin() {
		t.Error("power that fails again and again is never noticed")
	}
}
