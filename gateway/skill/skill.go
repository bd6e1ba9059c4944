// Package skill knows the folders with a SKILL.md that teach the assistant how
// to do something. It owns where they are looked for and which of two wins, how
// they are read, what they need to be of use here, what a model and a person
// get to see of them, and bringing one in from a folder, an archive or a bundle
// with a hash of every file. It runs nothing, asks nobody, and hands the
// environment of a run to its caller instead of changing our own.
package skill

import (
	"errors"
	"path/filepath"
)

// Limits of what is read. What is beyond them is not a skill.
const (
	maxFile        = 256 << 10 // of a SKILL.md
	maxFront       = 64 << 10  // of what stands before its text
	maxName        = 64        // runes
	maxDescription = 1024      // runes
	maxFolders     = 2000      // looked at in one place
)

// FileName is the file that makes a folder a skill.
const FileName = "SKILL.md"

// ErrInvalid means that something is not a skill; the words say why.
var ErrInvalid = errors.New("this is not a skill that Hearth can use")

// Source is where a skill comes from, the highest precedence first.
type Source string

const (
	Workspace Source = "workspace" // <workspace>/skills, of one agent
	Managed   Source = "managed"   // what was installed, for all agents
	Bundled   Source = "bundled"   // what came with Hearth
	Extra     Source = "extra"     // skills.load.extraDirs
)

// Requires is what must be there for a skill to be of use.
type Requires struct {
	Bins, AnyBins, Env, Config, OS []string
}

// Installer is a way to get what a skill needs. Hearth shows it and runs none.
type Installer struct {
	ID, Kind, Label               string
	Formula, Package, Module, URL string
	Archive, TargetDir            string
	Bins, OS                      []string
}

// Spec is what a SKILL.md says of itself. Its words are safe to show on one
// line: without control and direction characters, and not longer than the
// limits.
type Spec struct {
	Name, Description, Homepage, Emoji, Version string
	Key                                         string // of skills.entries
	PrimaryEnv                                  string
	Always                                      bool
	Requires                                    Requires
	Install                                     []Installer
	UserInvocable                               bool
	ModelInvocable                              bool
	Dispatch                                    string // "tool" or ""
	DispatchTool                                string
	ArgMode                                     string
}

// Trust is what is known about the files of a skill.
type Trust string

const (
	Shipped   Trust = "shipped"   // part of this program
	Confirmed Trust = "confirmed" // every file is as the owner has seen it
	Local     Trust = "local"     // in a folder of the owner's, never confirmed
	Changed   Trust = "changed"   // not as it was confirmed
	Unknown   Trust = "unknown"   // lies among the installed ones, but was not installed
	Waiting   Trust = "new"       // in a folder of the owner's, but a tool may have written it
)

// Skill is one that was found.
type Skill struct {
	Spec
	Source Source
	Dir    string // absolute
	Trust  Trust
	print  string // of all files, in folders of the owner's
	// Problem says why it cannot be used at all, "" when it can be read.
	Problem string
	// Shadowed are the places of others of its name that it takes the place of.
	Shadowed []string
}

// File is its SKILL.md.
func (s Skill) File() string { return filepath.Join(s.Dir, FileName) }

// Trusted: it may have what the owner keeps for a skill of this name.
func (s Skill) Trusted() bool {
	return s.Trust == Shipped || s.Trust == Confirmed || s.Source == Extra && s.Trust == Local
}
