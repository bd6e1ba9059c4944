package skills

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/skill"
)

func TestEverySkillIsOne(t *testing.T) {
	dirs, err := fs.ReadDir(Files(), ".")
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) < 12 {
		t.Errorf("%d skills", len(dirs))
	}
	for _, d := range dirs {
		data, err := fs.ReadFile(Files(), d.Name()+"/SKILL.md")
		if err != nil {
			t.Error(err)
			continue
		}
		s, err := skill.Parse(data)
		if err != nil {
			t.Errorf("%s: %v", d.Name(), err)
			continue
		}
		if s.Name != d.Name() || s.Emoji == "" || strings.Contains(s.Description, "…") || len(s.Description) > 300 {
			t.Errorf("%s: name %q, emoji %q, description of %d bytes", d.Name(), s.Name, s.Emoji, len(s.Description))
		}
		if f := skill.Findings(skill.Files{{Path: "SKILL.md", Data: data}}); len(f) > 0 {
			t.Errorf("%s: %v", d.Name(), f)
		}
	}
}
