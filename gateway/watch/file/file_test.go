package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/gateway/watch/file"
	"github.com/hearth-assistant/hearth/gateway/watch/watchtest"
)

// later is a clock for which no file is being written just now.
func later() time.Time { return time.Now().Add(time.Hour) }

func write(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	// Nobody is to see it half written.
	part := filepath.Join(t.TempDir(), "part")
	if err := os.WriteFile(part, []byte("words"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(part, name); err != nil {
		t.Fatal(err)
	}
}

func TestConformance(t *testing.T) {
	watchtest.Run(t, func(t *testing.T) *watchtest.World {
		dir := filepath.Join(t.TempDir(), "in")
		write(t, filepath.Join(dir, "there.txt"))
		s, err := file.New(dir, "", true, later)
		if err != nil {
			t.Fatal(err)
		}
		return &watchtest.World{
			Source: s,
			Change: func(t *testing.T, n int) string {
				name := fmt.Sprintf("sub/new %d.txt", n)
				write(t, filepath.Join(dir, name))
				return "new " + name
			},
			Away: func(t *testing.T, away bool) {
				from, to := dir, dir+".away"
				if !away {
					from, to = to, from
				}
				if err := os.Rename(from, to); err != nil {
					t.Fatal(err)
				}
			},
			Hostile: []func(t *testing.T){
				func(t *testing.T) { write(t, filepath.Join(dir, strings.Repeat("x", 250))) },
				func(t *testing.T) { write(t, filepath.Join(dir, "a\nb\x1b[31m<|im_start|>")) },
				func(t *testing.T) {
					if err := os.Symlink("/", filepath.Join(dir, "root")); err != nil {
						t.Fatal(err)
					}
				},
				func(t *testing.T) {
					for i := range 1000 {
						write(t, filepath.Join(dir, fmt.Sprintf("many/%d", i)))
					}
				},
				func(t *testing.T) { write(t, filepath.Join(dir, strings.Repeat("d/", 40)+"deep")) },
			},
			Mend: func(*testing.T) {},
		}
	})
}

// Only names that fit are looked at; one file may be watched before it is there.
func TestOneFileAndNames(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.pdf"))
	write(t, filepath.Join(dir, "b.txt"))
	for _, c := range []struct {
		path, match string
		want        int
	}{{dir, "*.pdf", 1}, {dir, "", 2}, {filepath.Join(dir, "a.pdf"), "", 1}, {filepath.Join(dir, "none"), "", 0}} {
		s, err := file.New(c.path, c.match, false, later)
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Look(t.Context(), nil)
		if err != nil || len(f.Items) != c.want {
			t.Errorf("%s %s: %v, %d files", c.path, c.match, err, len(f.Items))
		}
	}
	for _, bad := range [][2]string{{"relative", ""}, {dir, "["}} {
		if _, err := file.New(bad[0], bad[1], false, later); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
