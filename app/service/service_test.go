package service

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// hostile has everything in its words that one of the formats could misread.
var hostile = Spec{
	Name: Gateway, Exe: `/home/anna b/bin "x"/hearth`, Args: []string{"gateway", "--quiet", `%h $HOME \ & <i> "q"`},
	Env:  map[string]string{"HEARTH_HOME": "/home/anna b/50% & <x>", "HEARTH_CONFIG": "/c"},
	Home: "/home/anna b", Log: "/home/anna b/state/service.log",
}

func TestFiles(t *testing.T) {
	for name, got := range map[string]string{"hearth.service": unit(hostile), "agent.plist": agent(hostile),
		"task.xml": task(hostile, `HOME\anna & co`)} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
			if strings.HasPrefix(got, "<?xml") {
				d := xml.NewDecoder(strings.NewReader(strings.Replace(got, "UTF-16", "UTF-8", 1)))
				for {
					if _, err := d.Token(); err != nil {
						if err.Error() != "EOF" {
							t.Error(err)
						}
						break
					}
				}
			}
		})
	}
}

// systemd itself reads the unit, with all that is strange in it.
func TestSystemdAcceptsTheUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	s := hostile
	s.Exe = filepath.Join(dir, "bin x & y")
	if err := os.WriteFile(s.Exe, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "hearth.service")
	if err := os.WriteFile(file, []byte(unit(s)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("systemd-analyze", "verify", "--user", "--man=no", file)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "hearth.service:") {
		t.Errorf("%v: %s", err, out)
	}
}

// machine remembers what it was asked and answers as a system would.
type machine struct {
	asked []string
	fails map[string]string
	says  map[string]string
}

func (m *machine) run(_ context.Context, name string, args ...string) (string, error) {
	line := name + " " + strings.Join(args, " ")
	m.asked = append(m.asked, line)
	for part, why := range m.fails {
		if strings.Contains(line, part) {
			return why, errors.New(why)
		}
	}
	for part, say := range m.says {
		if strings.Contains(line, part) {
			return say, nil
		}
	}
	return "", nil
}

func TestSystemd(t *testing.T) {
	home := t.TempDir()
	s := Spec{Name: Gateway, Exe: "/usr/bin/hearth", Args: []string{"gateway"}, Home: home}
	m := &machine{says: map[string]string{"is-active": "active"}}
	sys := Systemd{Run: m.run}
	st, err := sys.Install(t.Context(), s)
	if err != nil || !st.Installed || !st.Running {
		t.Fatalf("%+v %v", st, err)
	}
	want := []string{"systemctl --user show-environment", "systemctl --user daemon-reload", "systemctl --user enable --now hearth.service",
		"systemctl --user is-active hearth.service"}
	if diff := cmp.Diff(want, m.asked); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(st.File)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if st, err = sys.Remove(t.Context(), s); err != nil || st.Installed {
		t.Errorf("%+v %v", st, err)
	}
	if _, err := os.Stat(st.File); err == nil {
		t.Error("the unit is still there")
	}
	if st, err = sys.Remove(t.Context(), s); err != nil {
		t.Errorf("a second time: %+v %v", st, err)
	}
}

func TestWithoutAManagerNothingIsWritten(t *testing.T) {
	m := &machine{fails: map[string]string{"show-environment": "Failed to connect to bus"}}
	home := t.TempDir()
	_, err := Systemd{Run: m.run}.Install(t.Context(), Spec{Name: Gateway, Args: []string{"gateway"}, Home: home})
	if !errors.Is(err, ErrNoManager) || !strings.Contains(err.Error(), "hearth gateway") {
		t.Error(err)
	}
	if left, _ := os.ReadDir(home); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSec_A_CFG_05_NoQuotesInThePath(t *testing.T) {
	home := t.TempDir()
	_, err := Systemd{Run: (&machine{}).run}.Install(t.Context(), Spec{Name: Gateway, Exe: `/a"b/hearth`, Home: home})
	if err == nil || !strings.Contains(err.Error(), "move Hearth") {
		t.Error(err)
	}
}

func TestLaunchdAndTasks(t *testing.T) {
	home := t.TempDir()
	m := &machine{says: map[string]string{"print": "state = running", "/Query": "Status: Running"}}
	s := Spec{Name: Gateway, Exe: "/x/hearth", Home: home, Log: home + "/log"}
	for _, sys := range []Manager{Launchd{Run: m.run, UID: 501}, Tasks{Run: m.run, User: `PC\anna`}} {
		if st, err := sys.Install(t.Context(), s); err != nil || !st.Running {
			t.Errorf("%+v %v", st, err)
		}
		if st, err := sys.Remove(t.Context(), s); err != nil || st.Running {
			t.Errorf("%+v %v", st, err)
		}
	}
	said := strings.Join(m.asked, "\n")
	for _, want := range []string{"launchctl bootstrap gui/501 ", "schtasks /Create /F /TN Hearth gateway /XML ", "schtasks /Delete"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q was not asked:\n%s", want, said)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add(`a\ "b" % $ & <x>`)
	f.Fuzz(func(t *testing.T, w string) {
		if got := systemdWord(w); strings.ContainsAny(got, "\n\t") || strings.Count(strings.ReplaceAll(strings.ReplaceAll(got, `\\`, ""), `\"`,
			""), `"`) != 2 {
			t.Errorf("%q", got)
		}
		windowsWord(w)
	})
}

// TestSec_A_CFG_05_NoWordBecomesASetting: nothing that a path, an argument or a
// variable holds can begin a line, or name a variable, of what the system reads.
func TestSec_A_CFG_05_NoWordBecomesASetting(t *testing.T) {
	sound := func() Spec {
		return Spec{Name: Gateway, Exe: "/x/hearth", Args: []string{"gateway"}, Env: map[string]string{"HEARTH_HOME": "/h"}, Home: t.TempDir(),
			Log: "/l"}
	}
	for _, evil := range []string{"\n[Service]\nExecStartPre=/bin/evil", "\r[Service]\rExecStartPre=/bin/evil", "a\x00b", "a\x1bb", "a\u0085b",
		"a\u2028b"} {
		for place, put := range map[string]func(*Spec){
			"program":  func(s *Spec) { s.Exe += evil },
			"argument": func(s *Spec) { s.Args = append(s.Args, evil) },
			"value":    func(s *Spec) { s.Env["HEARTH_HOME"] = evil },
			"variable": func(s *Spec) { s.Env[evil] = "x" },
			"log":      func(s *Spec) { s.Log += evil },
		} {
			s, m := sound(), &machine{}
			put(&s)
			for _, sys := range []Manager{Systemd{Run: m.run}, Launchd{Run: m.run, UID: 501}, Tasks{Run: m.run, User: "x"}} {
				if _, err := sys.Install(t.Context(), s); err == nil || !strings.Contains(err.Error(), "control character") {
					t.Errorf("%T, %q as %s: %v", sys, evil, place, err)
				}
			}
			if left, _ := os.ReadDir(s.Home); len(left) > 0 {
				t.Errorf("%q as %s wrote %v", evil, place, left)
			}
		}
	}
	s, m := sound(), &machine{}
	s.Exe = `C:\%TEMP%\hearth.exe`
	if _, err := (Tasks{Run: m.run, User: "x"}).Install(t.Context(), s); err == nil || len(m.asked) > 0 &&
		strings.Contains(m.asked[len(m.asked)-1], "Create") {
		t.Errorf("a variable in a task: %v", err)
	}
}
