//go:build linux || darwin

package launch_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/approval/plan"
	"github.com/hearth-assistant/hearth/gateway/launch"
)

// pins is a system where files can be pinned, or not.
type pins bool

func (p pins) Pins(context.Context) bool { return bool(p) }

// Where a script cannot be kept as it was approved, the question says so; where
// nothing of that kind runs, it is silent.
func TestSec_A_EXEC_15_TheQuestionSaysSo(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.sh": "echo\n", "s.sh": "echo\nsudo ls\n", "pseudo.sh": "pseudo x # sudoku sum\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := plan.New(plan.Options{Home: dir, Confined: true})
	user := os.Geteuid() > 0 // root needs no sudo
	for _, c := range []struct {
		command       string
		can, confined bool
		pin           bool
		words         string
	}{
		{"ls", false, true, false, ""},
		{"bash a.sh", true, true, true, ""},
		{"bash a.sh", true, false, true, ""},
		{"bash a.sh && bash pseudo.sh", true, false, true, ""},
		{"bash a.sh", false, true, false, "On this system this can only be compared with what you allow right before the start, and is then " +
			"used as found: a.sh. "},
		{"bash a.sh && bash pseudo.sh", false, false, false, "a.sh and the other files that it runs"},
		{"bash s.sh", true, true, true, ""}, // sudo does nothing in the sandbox anyway
		{"bash s.sh", true, false, !user, "It uses sudo"},
		{"bash a.sh; sudo ls", true, false, !user, "It uses sudo"},
	} {
		p, err := r.Resolve(t.Context(), plan.Request{Command: c.command, Dir: dir, Shell: "/bin/sh"})
		if err != nil {
			t.Fatal(err)
		}
		if c.pin {
			c.words = ""
		}
		pin, words := launch.Pinning(t.Context(), pins(c.can), p, c.confined)
		if pin != c.pin || !strings.Contains(words, c.words) || (words == "") != (c.words == "") {
			t.Errorf("%+v: %v %q", c, pin, words)
		}
	}
}
