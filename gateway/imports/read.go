package imports

import (
	"path"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/imports/source"
)

// Limits of single files.
const (
	maxFile    = 16 << 20
	maxSkill   = 8 << 20 // with all its files
	maxInSkill = 400
)

// FileAt is a file of a source, as rel in an agent's workspace.
func FileAt(t *source.Tree, kind Kind, agent, name, rel string) Item {
	it := Item{Kind: kind, ID: name, Name: name}
	data, err := t.Read(name, maxFile)
	if err != nil {
		it.Why = Why(err)
		return it
	}
	it.File = &File{Agent: agent, Path: rel, Data: data}
	return it
}

// SkillAt is the skill in a folder; names are files of which some are its own.
func SkillAt(t *source.Tree, dir string, names []string) Item {
	it := Item{Kind: Skills, ID: dir, Name: path.Base(dir)}
	s := &Skill{Files: map[string][]byte{}, Where: path.Join(t.Path, dir)}
	left := int64(maxSkill)
	for _, name := range names {
		rel, ok := strings.CutPrefix(name, dir+"/")
		if !ok {
			continue
		}
		data, err := t.Read(name, left)
		if left -= int64(len(data)); err == nil && len(s.Files) >= maxInSkill {
			err = source.ErrTooMany
		}
		if err != nil {
			it.Why = Why(err)
			return it
		}
		s.Files[rel] = data
	}
	it.Skill = s
	return it
}

// Why is an error as people read it in a table: one line.
func Why(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}
