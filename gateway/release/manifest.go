package release

import (
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// Limits of what a manifest may announce.
const (
	maxArchive  = 1 << 30
	maxProgram  = 512 << 20
	maxFiles    = 64
	maxPrograms = 16
	maxNotes    = 8 << 10
	// skew is how much the clocks of the publisher and this machine may differ.
	skew = 24 * time.Hour
)

// Manifest is what a release is. Its signature covers all of it.
type Manifest struct {
	Format  int    `json:"format"`  // 1
	Channel string `json:"channel"` // "stable" or "beta"
	// Sequence only grows, with every manifest of a channel: an older one that
	// somebody keeps is known by it.
	Sequence int64     `json:"sequence"`
	Version  string    `json:"version"` // 1.2.3, 1.3.0-beta.1
	Issued   time.Time `json:"issued"`
	// Expires is when it has to have been signed anew, also without a new version:
	// a source that somebody holds still is known by it.
	Expires time.Time `json:"expires"`
	Notes   string    `json:"notes,omitempty"` // what is new, for people
	Files   []File    `json:"files"`
}

// File is an archive for one kind of machine.
type File struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	Kind string `json:"kind"` // KindGateway, KindDesktop
	Name string `json:"name"` // of the archive: .tar.gz or .zip
	Size int64  `json:"size"`
	SHA  string `json:"sha256"`
	// Programs are those inside, which are taken out of it; nothing else is.
	Programs []Program `json:"programs"`
}

// Program is an executable in an archive.
type Program struct {
	Name string `json:"name"` // hearth, hearth-channels, … (.exe on Windows)
	Size int64  `json:"size"`
	SHA  string `json:"sha256"`
}

// Kinds of archives: the gateway and command line alone, or with icon and window.
const (
	KindGateway = "gateway"
	KindDesktop = "desktop"
)

// Channels are those that there are.
func Channels() []string { return []string{"stable", "beta"} }

var (
	// ErrOlder: it is older than one that was seen before.
	ErrOlder = errors.New("it is older than what this source said before, so somebody may be holding newer releases back")
	// ErrExpired: its time is over.
	ErrExpired = errors.New("it has run out")
	// ErrNoFile: the release has nothing for this machine.
	ErrNoFile = errors.New("the release has no file for this kind of machine")
)

var (
	fileName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)
	programName = regexp.MustCompile(`^hearth(-[a-z]+)?(\.exe)?$`)
)

// The longest of both, in bytes.
const (
	mostFileName    = 128
	mostProgramName = len("hearth-") + 24 + len(".exe")
)

// Manifest verifies what a source says of a channel. seen is the highest sequence
// that was verified before.
func (t Trust) Manifest(data []byte, signatures [][]byte, channel string, seen int64, now time.Time) (Manifest, error) {
	if signedBy(t.Releases, data, signatures) < t.Threshold {
		return Manifest{}, fmt.Errorf("the description of the release: %w", ErrNotSigned)
	}
	if now.After(t.Expires) {
		return Manifest{}, fmt.Errorf("the list of keys of this source: %w (on %s). If the date of this computer is right, nobody looks "+
			"after the source any more, or somebody holds it still", ErrExpired, day(t.Expires))
	}
	var m Manifest
	if err := strict(data, maxManifest, &m); err != nil {
		return Manifest{}, fmt.Errorf("the description of the release: %w", err)
	}
	if err := m.Check(channel); err != nil {
		return Manifest{}, fmt.Errorf("the description of the release: %w", err)
	}
	switch {
	case m.Sequence < seen:
		return Manifest{}, fmt.Errorf("the description of the release (%s, number %d; number %d was seen): %w", m.Version, m.Sequence, seen,
			ErrOlder)
	case now.After(m.Expires):
		return Manifest{}, fmt.Errorf("the description of the release (%s): %w, on %s. If the date of this computer is right, the source "+
			"stands still or somebody holds newer releases back; try again later, or another network", m.Version, ErrExpired, day(m.Expires))
	case now.Add(skew).Before(m.Issued):
		return Manifest{}, fmt.Errorf("the description of the release is from %s, which this computer's clock has not reached; set the clock, "+
			"then try again", day(m.Issued))
	}
	return m, nil
}

func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

// Check refuses what no release may say; channel is the one that was asked for.
func (m Manifest) Check(channel string) error {
	switch {
	case m.Format != 1:
		return fmt.Errorf("it has the format %d, which this version does not know; install the new version by hand", m.Format)
	case m.Channel != channel:
		return fmt.Errorf("it is of the channel %q, not %q", clip(m.Channel, 20), channel)
	case m.Sequence < 1:
		return errors.New("it has no number")
	case !ValidVersion(m.Version):
		return fmt.Errorf("%q is no version", clip(m.Version, 40))
	case len(m.Notes) > maxNotes:
		return errors.New("its notes are too long")
	case len(m.Files) == 0 || len(m.Files) > maxFiles:
		return fmt.Errorf("it lists %d files", len(m.Files))
	}
	for _, f := range m.Files {
		if err := f.check(); err != nil {
			return fmt.Errorf("%s: %w", clip(f.Name, 80), err)
		}
	}
	return nil
}

func (f File) check() error {
	switch {
	case len(f.Name) > mostFileName || !fileName.MatchString(f.Name):
		return errors.New("it is no name of a file")
	case !strings.HasSuffix(f.Name, ".tar.gz") && !strings.HasSuffix(f.Name, ".zip"):
		return errors.New("it is neither .tar.gz nor .zip")
	case f.Size < 1 || f.Size > maxArchive:
		return fmt.Errorf("a size of %d bytes", f.Size)
	case !isSHA(f.SHA):
		return errors.New("its SHA-256 is missing")
	case len(f.Programs) == 0 || len(f.Programs) > maxPrograms:
		return fmt.Errorf("it lists %d programs", len(f.Programs))
	}
	has := map[string]bool{}
	for _, p := range f.Programs {
		switch {
		case !IsProgram(p.Name) || has[p.Name]:
			return fmt.Errorf("%q is no program of Hearth, or is there twice", clip(p.Name, 40))
		case p.Size < 1 || p.Size > maxProgram || !isSHA(p.SHA):
			return fmt.Errorf("%s has no size or no SHA-256", p.Name)
		}
		has[p.Name] = true
	}
	if !has["hearth"] && !has["hearth.exe"] {
		return errors.New("hearth itself is missing")
	}
	return nil
}

// IsProgram reports whether a file is called like a program of Hearth.
func IsProgram(name string) bool {
	return len(name) <= mostProgramName && programName.MatchString(name)
}

func isSHA(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 32 && s == strings.ToLower(s)
}

// For is the file for a kind of machine; where a desktop has none of its own, it is
// not replaced by a lesser one.
func (m Manifest) For(system, arch, kind string) (File, error) {
	i := slices.IndexFunc(m.Files, func(f File) bool { return f.OS == system && f.Arch == arch && f.Kind == kind })
	if i < 0 {
		return File{}, fmt.Errorf("%w (%s/%s, %s)", ErrNoFile, system, arch, kind)
	}
	return m.Files[i], nil
}

// ValidVersion reports whether a text is a version: 1.2.3 or 1.2.3-beta.1.
func ValidVersion(v string) bool {
	return len(v) <= 64 && semver.IsValid("v"+v) && semver.Canonical("v"+v) == "v"+v
}

// Newer reports whether a version is newer than another. One that cannot be read,
// as of a build of one's own, is older than any.
func Newer(v, than string) bool { return semver.Compare("v"+v, "v"+than) > 0 }
