// Package skills holds the skills that come with Hearth: a folder each, with
// the SKILL.md that a model reads. What a skill is, and how it is read, is not
// here but in gateway/skill.
package skills

import (
	"embed"
	"io/fs"
)

//go:embed */SKILL.md
var files embed.FS

// Files are the folders.
func Files() fs.FS { return files }
