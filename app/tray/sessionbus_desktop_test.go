//go:build desktop && linux

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The icon's own connection to the session's bus comes after the panel was
// found, which libayatana-appindicator does not expect: the icon is there.
func TestTheIconIsThereWhenTheBusIsLate(t *testing.T) {
	desktop(t)
	flags, err := exec.Command("pkg-config", "--cflags", "--libs", "gio-2.0").Output()
	if err != nil {
		t.Fatal(err)
	}
	late := filepath.Join(t.TempDir(), "latebus.so")
	args := append([]string{"-shared", "-fPIC", "-o", late, "testdata/latebus.c"}, strings.Fields(string(flags))...)
	if out, err := exec.Command("cc", append(args, "-ldl")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h := newHost(t)
	p := newProgram(t)
	p.env = []string{"LD_PRELOAD=" + late}
	p.start()
	h.icon(t).until("Ready")
}
