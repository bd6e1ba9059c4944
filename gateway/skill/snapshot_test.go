package skill

import (
	"os"
	"strings"
	"testing"
)

// shelf keeps snapshots as a store would.
type shelf map[string][]byte

func (s shelf) Load(key string) ([]byte, error)   { return s[key], nil }
func (s shelf) Save(key string, raw []byte) error { s[key] = raw; return nil }

// Skills page, "Session Snapshot": what a session began with is reused for its
// turns, after a restart too; changes come with the next session.
func TestSessionSnapshotOverARestart(t *testing.T) {
	h := newHome(t)
	kept := shelf{}
	h.lib.Snapshots, h.watching = kept, false
	h.write("ws/skills/a/SKILL.md", md("a", ""))
	h.write("ws/skills/b/SKILL.md", md("b", ""))
	h.write("ws/skills/evil/SKILL.md", md("evil", ""))
	h.again()
	names := func(id string) string {
		var out []string
		for _, s := range h.lib.Session(id, h.workspace()).Skills {
			out = append(out, s.Name+": "+s.Description)
		}
		return strings.Join(out, "; ")
	}
	if got := names("s1"); got != "a: about a; b: about b; evil: about evil" {
		t.Fatal(got)
	}
	h.end()
	h.write("ws/skills/a/SKILL.md", strings.Replace(md("a", ""), "about a", "something else", 1))
	h.write("ws/skills/c/SKILL.md", md("c", ""))
	if err := os.RemoveAll(h.path("ws", "skills", "b")); err != nil {
		t.Fatal(err)
	}
	h.again()
	if got := names("s1"); got != "a: about a; evil: about evil" {
		t.Errorf("the old session: %s", got)
	}
	if got := names("s2"); got != "a: something else; c: about c; evil: about evil" {
		t.Errorf("a new session: %s", got)
	}
	h.meanwhile(func() { h.write("ws/skills/evil/SKILL.md", md("evil", "")+"more") })
	h.list()
	if got := names("s2"); strings.Contains(got, "evil") {
		t.Errorf("what a tool changed is used on: %s", got)
	}
	h.again()
	if got := names("s1"); strings.Contains(got, "evil") {
		t.Errorf("after a restart: %s", got)
	}
	for key := range kept {
		kept[key] = []byte("{")
	}
	h.again()
	if got := names("s1"); got != "a: something else; c: about c" {
		t.Errorf("with a broken snapshot: %s", got)
	}
}
