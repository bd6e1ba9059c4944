package release

import (
	"os"
	"path/filepath"
	"testing"
)

// onWindows is an installation as the installer for Windows makes it, with a newer
// version beside it.
func onWindows(t *testing.T) (i Install, say func() string) {
	t.Helper()
	i = Install{Root: t.TempDir(), system: "windows"}
	put := func(version string, at ...string) {
		for _, name := range []string{"hearth.exe", "hearth-tray.exe"} {
			file := filepath.Join(append(append([]string{i.Root}, at...), name)...)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(name+" "+version), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	put("0.1.0")
	put("0.2.0", versions, "0.2.0")
	return i, func() string {
		t.Helper()
		said := ""
		for _, name := range []string{"hearth.exe", "hearth-tray.exe"} {
			b, err := os.ReadFile(filepath.Join(i.Root, name))
			if err != nil {
				t.Fatal(err)
			}
			said += string(b) + "; "
		}
		return said + i.Current()
	}
}

const (
	older = "hearth.exe 0.1.0; hearth-tray.exe 0.1.0; 0.1.0"
	newer = "hearth.exe 0.2.0; hearth-tray.exe 0.2.0; 0.2.0"
)

// Without links: the programs change over, and back.
func TestSwitchByRenaming(t *testing.T) {
	i, say := onWindows(t)
	for range 2 { // the second time nothing is to be done
		if err := i.Switch("0.1.0", "0.2.0"); err != nil {
			t.Fatal(err)
		}
		if got := say(); got != newer {
			t.Fatalf("after the switch: %s", got)
		}
	}
	if err := i.Return("0.1.0"); err != nil {
		t.Fatal(err)
	}
	if got := say(); got != older {
		t.Fatalf("after going back: %s", got)
	}
	if err := i.Switch("0.1.0", "0.2.0"); err != nil {
		t.Fatal(err)
	}
	if err := i.Keep("0.2.0", "0.1.0"); err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"0.1.0", "0.2.0"} {
		if !i.Has(v) {
			t.Errorf("%s is gone", v)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(i.Root, versions, aside+"*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// A cut at every step: doing it again ends with all programs of one version.
func TestFault_F_OPS_SwitchByRenamingIsCutShort(t *testing.T) {
	for name, cut := range map[string]func(i Install) error{
		"adopted": func(i Install) error { return i.adopt("0.1.0") },
		"pointed": func(i Install) error { return errFirst(i.adopt("0.1.0"), i.point("0.2.0")) },
		"one of two": func(i Install) error {
			return errFirst(i.adopt("0.1.0"), i.point("0.2.0"), i.exchange("hearth.exe", "0.2.0"))
		},
		"a name without a program": func(i Install) error {
			return errFirst(i.adopt("0.1.0"), i.point("0.2.0"), os.Rename(filepath.Join(i.Root, "hearth.exe"), i.folder(aside+"1-hearth.exe")),
				os.WriteFile(filepath.Join(i.Root, "hearth.exe.next"), []byte("half"), 0o755))
		},
	} {
		t.Run(name, func(t *testing.T) {
			i, say := onWindows(t)
			if err := cut(i); err != nil {
				t.Fatal(err)
			}
			if err := i.Switch("0.1.0", "0.2.0"); err != nil {
				t.Fatal(err)
			}
			if got := say(); got != newer {
				t.Errorf("forward: %s", got)
			}
			if err := i.Return("0.1.0"); err != nil {
				t.Fatal(err)
			}
			if got := say(); got != older {
				t.Errorf("back: %s", got)
			}
		})
	}
}

func errFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
