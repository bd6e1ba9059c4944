package plan

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hearth-assistant/hearth/internal/seed"
)

// world is a folder with a system of its own, in which every program is planted
// and does nothing but say who it is, except for wrappers, which are the real ones.
type world struct {
	r         *Resolver
	root, dir string
	env       []string
	keep      map[string][]byte
	shells    map[string]string // name → path
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{root: root, dir: filepath.Join(root, "work"), keep: map[string][]byte{}, shells: map[string]string{}}
	sys := filepath.Join(root, "sys")
	for _, name := range strings.Fields("ls cat head wc sort pwned grep cp find true git python3 uniq xargs") {
		plant(t, filepath.Join(sys, name))
	}
	// Programs of the same names where nobody may look for them.
	hostile := filepath.Join(root, "hostile")
	for _, at := range []string{w.dir, filepath.Join(w.dir, "sub"), filepath.Join(w.dir, "sub/deep"), hostile,
		filepath.Join(root, "home/.local/bin"), filepath.Join(w.dir, "node_modules/.bin")} {
		for _, name := range strings.Fields("tool ls cat sort git env nice pwned cd echo") {
			plant(t, filepath.Join(at, name))
			w.keep[filepath.Join(at, name)] = elf(t, iAm+filepath.Join(at, name))
		}
	}
	for _, name := range strings.Fields("env nice nohup timeout stdbuf setsid flock ionice chrt taskset") {
		if path, err := exec.LookPath(name); err == nil {
			copyFile(t, path, filepath.Join(sys, name))
		}
	}
	if err := os.Symlink("sub", filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dash", "bash"} {
		if path, err := exec.LookPath(name); err == nil {
			w.shells[name] = path
		} else if os.Getenv("HEARTH_REQUIRE_STRACE") != "" {
			t.Fatal(err)
		}
	}
	if path, err := exec.LookPath("busybox"); err == nil {
		w.shells["busybox"] = filepath.Join(root, "ash")
		if err := os.Symlink(path, w.shells["busybox"]); err != nil {
			t.Fatal(err)
		}
	}
	w.r = New(Options{Path: []string{hostile, filepath.Join(w.dir, "node_modules/.bin")}, Home: filepath.Join(root, "home"), Confined: true,
		Now: time.Now})
	if len(w.r.path) != 0 {
		t.Fatalf("folders that anybody may write to are searched: %v", w.r.path)
	}
	w.r.path = []string{sys}
	w.r.trusted = func(path string) bool { return path == sys || strings.HasPrefix(path, sys+"/") || systemOwned(path) }
	w.env = []string{"PATH=" + w.r.SearchPath(), "HOME=" + filepath.Join(root, "home"), "OLDPWD=" + hostile}
	return w
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, raw, 0o755); err != nil {
		t.Fatal(err)
	}
}

// read says whether the text is understood in full. That the programs in it are
// planted ones that the tables do not know is no doubt about the text.
func (w *world) read(p Plan) bool {
	for _, d := range p.Doubts {
		switch d.Code {
		case "other-program", "outside", "runner", "interpreter", "replaceable", "missing": // about programs
		default:
			return false
		}
	}
	for _, path := range p.Writes {
		if !strings.HasPrefix(path, w.dir+"/") {
			return false // nothing leaves the world
		}
	}
	return true
}

type traced struct {
	text  string
	known bool
	may   []string // images
	job   job
}

// TestSec_A_EXEC_Differential: what the resolver says will run is what runs, in
// every shell. Two worlds, so that two processors have something to do.
func TestSec_A_EXEC_Differential(t *testing.T) {
	needStrace(t)
	commands := seed.Rounds(4_000, 54_000) // of which two fifths are read in full and run
	for half := range uint64(2) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			differ(t, newWorld(t), &generator{Rand: seed.Fixed(t, 20260726+half)}, commands/2)
		})
	}
}

func differ(t *testing.T, w *world, g *generator, commands int) {
	work := map[string][]traced{}
	known, understood := 0, 0
	for i := range commands {
		text := g.text()
		for name, shell := range w.shells {
			if name == "busybox" && i%5 != 0 {
				continue // not one of the three that count, and time is short
			}
			p, err := w.r.Resolve(t.Context(), Request{Command: text, Dir: w.dir, Shell: shell})
			if err != nil {
				continue // damaged beyond being text
			}
			if !w.read(p) {
				continue
			}
			if name == "dash" {
				understood++
				if p.Known {
					known++
				}
			}
			may := []string{shell}
			for _, pr := range p.Programs {
				may = append(may, pr.Path)
			}
			forced := p
			forced.Shell, forced.Command = shell, text
			_, argv := forced.Exec()
			work[name] = append(work[name], traced{text, p.Known, may, job{shell, argv, len(p.Writes) > 0}})
		}
	}
	t.Logf("%d commands, %d read in full, %d of them known, in %d shells", commands, understood, known, len(w.shells))
	if understood < commands*30/100 || known < commands*10/100 {
		t.Error("the generator is too wild for the test to mean anything")
	}
	for name, all := range work {
		for part := range slices.Chunk(all, 500) {
			w.compare(t, name, part)
		}
	}
}

func (w *world) compare(t *testing.T, shell string, part []traced) {
	b := batch{Dir: w.dir, Env: w.env, Keep: w.keep}
	for _, one := range part {
		b.Jobs = append(b.Jobs, one.job)
	}
	bad := 0
	for i, images := range trace(t.Context(), t, b) {
		for _, image := range images {
			if strings.HasPrefix(image, "./") || !strings.HasPrefix(image, "/") {
				continue // a planted program, which says itself where it lies
			}
			if !slices.Contains(part[i].may, image) {
				if bad++; bad < 10 {
					t.Errorf("%s ran %s for %q (known: %v), which may run only %q", shell, image, part[i].text, part[i].known, part[i].may)
				}
			}
		}
	}
}
