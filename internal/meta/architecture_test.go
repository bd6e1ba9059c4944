package meta

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestArchitectureNamesEveryRoom keeps the tree in docs/architecture.md and the
// packages the same.
func TestArchitectureNamesEveryRoom(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	told := tree(string(doc))
	told["."] = true // main.go of the window, a few lines
	for _, f := range repository(t) {
		if f.prod() && !told[f.dir] {
			t.Errorf("docs/architecture.md does not name %s", f.dir)
			told[f.dir] = true // once
		}
	}
	for room := range told {
		if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(room))); err != nil {
			t.Errorf("docs/architecture.md names %s, which is not there", room)
		}
	}
}

var roomNames = regexp.MustCompile(`^( *)((?:[a-z][a-z0-9-]*/ ?)+)`)

// tree reads the first code block of a page as folders, two spaces a level.
func tree(doc string) map[string]bool {
	_, block, _ := strings.Cut(doc, "```")
	block, _, _ = strings.Cut(block, "```")
	rooms := map[string]bool{}
	var above []string
	for line := range strings.Lines(block) {
		m := roomNames.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		level := len(m[1]) / 2
		above = above[:min(level, len(above))]
		names := strings.Fields(m[2])
		for _, n := range names {
			rooms[path.Join(append(append([]string{}, above...), n)...)] = true
		}
		above = append(above, names[0])
	}
	return rooms
}

func TestTree(t *testing.T) {
	got := tree("words\n```\na/      first\n  b/ c/  both\n    d/   below b\n -- a heading --\n  e/\n```\n")
	for _, want := range []string{"a", "a/b", "a/c", "a/b/d", "a/e"} {
		if !got[want] {
			t.Errorf("the tree lacks %s: %v", want, got)
		}
	}
	if len(got) != 5 {
		t.Errorf("the tree has %d rooms, want 5: %v", len(got), got)
	}
}
