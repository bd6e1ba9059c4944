package skill

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOpenClawSkills reads the bundled skills of the real OpenClaw and compares
// what is missing for each with what `openclaw skills list --json` said on this
// machine. build/interop runs it.
func TestOpenClawSkills(t *testing.T) {
	dir, listed := os.Getenv("HEARTH_OPENCLAW_SKILLS"), os.Getenv("HEARTH_OPENCLAW_LIST")
	if dir == "" || listed == "" {
		t.Skip("build/test --interop runs this")
	}
	raw, err := os.ReadFile(listed)
	if err != nil {
		t.Fatal(err)
	}
	type needs struct{ Bins, AnyBins, Env, Config, OS []string }
	var theirs struct {
		Skills []struct {
			Name, Source                          string
			Eligible, ModelVisible, UserInvocable bool
			Missing                               needs
		}
	}
	if err := json.Unmarshal(raw, &theirs); err != nil {
		t.Fatal(err)
	}
	l := New(Options{Managed: "/none", Bundled: "/none", LockFile: "/none", SeenFile: filepath.Join(t.TempDir(), "seen"), Write: writeFile,
		Extra: func() []string { return []string{dir} }, Watching: func() bool { return false }, World: func() World {
			return World{
				Find: FindIn(os.Getenv("PATH")), Env: func(n string) bool { return os.Getenv(n) != "" }, Config: func(string) bool { return false },
				Entry: func(string) Entry { return Entry{} },
			}
		}})
	ours := map[string]Status{}
	for _, s := range l.List("") {
		if s.Problem != "" {
			t.Errorf("%s: %s", s.Dir, s.Problem)
		}
		ours[s.Name] = s
	}
	compared := 0
	for _, their := range theirs.Skills {
		if their.Source != "openclaw-bundled" {
			continue
		}
		s, ok := ours[their.Name]
		if !ok {
			t.Errorf("%s was not found in %s", their.Name, filepath.Base(dir))
			continue
		}
		compared++
		got, want := needs(s.Missing), their.Missing
		for _, n := range []*needs{&got, &want} {
			for _, list := range []*[]string{&n.Bins, &n.AnyBins, &n.Env, &n.Config, &n.OS} {
				*list = append([]string{}, *list...)
				slices.Sort(*list)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: what is missing: %s", their.Name, diff)
		}
		if s.Eligible() != their.Eligible || s.ModelVisible() != their.ModelVisible || s.UserInvocable != their.UserInvocable {
			t.Errorf("%s: eligible %v, visible %v, invocable %v; there %+v", their.Name, s.Eligible(), s.ModelVisible(), s.UserInvocable, their)
		}
	}
	if compared < 40 {
		t.Errorf("only %d skills were compared", compared)
	}
	t.Logf("%d skills, all the same", compared)
}
