package autostart

import (
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestOnAndOff(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("would change what this computer starts")
	}
	e := Entry{Exe: "/opt/hearth tray", Home: t.TempDir()}
	is := func(want bool) {
		t.Helper()
		if got, err := e.Enabled(); err != nil || got != want {
			t.Errorf("enabled %v, %v; want %v", got, err, want)
		}
	}
	is(false)
	for range 2 {
		if err := e.Enable(); err != nil {
			t.Fatal(err)
		}
		is(true)
	}
	for range 2 {
		if err := e.Disable(); err != nil {
			t.Fatal(err)
		}
		is(false)
	}
}

func TestTexts(t *testing.T) {
	got := desktopEntry(`/home/a b/50% $x "q" \ ` + "`" + `/hearth-tray`)
	if want := `Exec="/home/a b/50%% \\$x \\"q\\" \\\\ \\` + "`" + `/hearth-tray"`; !strings.Contains(got, want+"\n") {
		t.Errorf("%s\nhas no %s", got, want)
	}
	d := xml.NewDecoder(strings.NewReader(loginAgent("/a & <b>/hearth-tray")))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// The desktop's own checker reads the entry.
func TestTheEntryIsValid(t *testing.T) {
	if _, err := exec.LookPath("desktop-file-validate"); err != nil {
		t.Skip("desktop-file-validate is not installed")
	}
	file := filepath.Join(t.TempDir(), "hearth.desktop")
	if err := os.WriteFile(file, []byte(desktopEntry(`/home/a b/50%/hearth-tray`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("desktop-file-validate", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
