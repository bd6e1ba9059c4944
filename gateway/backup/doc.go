// Package backup writes and reads backups: one file each, in a folder of the
// person's choice, encrypted with age, so that it can be opened without Hearth
// too (docs/backup.md has the three commands).
//
// A backup is age(zstd(tar(…))). A full one holds every file whole under its
// path and manifest.json at its end. A partial one is made against one full
// backup in the same folder: it names the files that did not change and holds
// the changed blocks of those that did, so that restoring never needs more than
// two files. Which blocks a full backup has is kept beside the state
// (Blocks), so that nothing has to be decrypted to make the next one; where that
// is missing, a full one is made.
//
// The package owns the format, the folder's names, the key and which backups are
// kept. What Hearth consists of is the caller's (Source), when a backup is made
// is package feature/backup's, and putting one in the place of what is there is
// package restore's.
package backup

import (
	"errors"
	"time"
)

// Format is what this build writes, and the newest that it reads.
const Format = 1

// Names inside of a backup.
const (
	manifestName = "manifest.json"
	changedDir   = "changed/" // runs of blocks: changed/OFFSET/PATH
)

// Limits on what is read, which somebody else may have made.
const (
	maxFiles    = 2_000_000
	maxManifest = 512 << 20
)

// BlockSize is the unit in which a partial backup tells what changed: four pages
// of the database, whose changes are scattered. With 1 % of its pages changed
// at random, 4 % of its bytes are saved again.
const BlockSize = 16 << 10

// maxRun is how many bytes of changed blocks stand in one piece of the archive.
const maxRun = 4 << 20

// errChanged stands for what the library says of bytes that do not open: that is about
// its format, and may show them.
var errChanged = errors.New("the file was changed or cut off")

// foreignError is an ErrDamaged too: a backup whose first bytes were changed looks the same.
type foreignError struct{}

func (foreignError) Error() string        { return "this is not a backup of Hearth" }
func (foreignError) Is(target error) bool { return target == ErrDamaged }

// What callers decide by.
var (
	// ErrKey: the passphrase or identity does not open the backup.
	ErrKey = errors.New("this passphrase or key does not open the backup")
	// ErrDamaged: a byte of the backup is not what was written.
	ErrDamaged = errors.New("the backup is damaged")
	// ErrForeign: what is in the file is something else.
	ErrForeign error = foreignError{}
	// ErrNoBase: the full backup that a partial one builds upon is not in the folder.
	ErrNoBase = errors.New("the full backup that this one builds upon is not in the folder")
	// ErrNewer: a newer Hearth made it.
	ErrNewer = errors.New("a newer Hearth made this backup")
	// ErrNotSetUp: there is no key for the folder yet.
	ErrNotSetUp = errors.New("no place for backups was chosen yet")
)

// Manifest is what a backup says about itself. It is inside, encrypted.
type Manifest struct {
	Format  int       `json:"format"`
	Name    string    `json:"name"`           // of its file
	Base    string    `json:"base,omitempty"` // the full backup's, "" for a full one
	At      time.Time `json:"at"`
	Version string    `json:"version"` // of Hearth
	Secrets bool      `json:"secrets"` // identity, keys and the vault are in it
	// Roots says where the folders were: "state", "workspace/main", "skills".
	Roots map[string]string `json:"roots"`
	Home  string            `json:"home,omitempty"` // the person's folder then
	Files []File            `json:"files"`
}

// File is a file, link or folder of a backup.
type File struct {
	Path    string    `json:"path"` // ROOT/…, with slashes
	Mode    uint32    `json:"mode"` // permission bits
	ModTime time.Time `json:"modTime,omitzero"`
	Dir     bool      `json:"dir,omitempty"`
	Link    string    `json:"link,omitempty"` // where a symbolic link leads; kept, never followed
	Size    int64     `json:"size,omitempty"`
	SHA256  string    `json:"sha256,omitempty"`
	// FromBase: its blocks are the base's, but for those that are here.
	FromBase bool `json:"fromBase,omitempty"`
	// Torn: it became shorter while it was read; what was missing is zeros.
	Torn bool `json:"torn,omitempty"`
}

// Full reports whether the backup stands by itself.
func (m *Manifest) Full() bool { return m.Base == "" }

// Bytes is the size of all files together, when they are restored.
func (m *Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}
