package release

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// versions is the folder of the versions, beside the programs; current is the link
// in it to the one that is used.
const (
	versions = "hearth-versions"
	current  = "current"
)

// programsIn are the programs of Hearth in a folder: what is called hearth or
// hearth-WORD, links to such programs too.
func programsIn(dir string) (names []string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil // whoever needs one says that it is missing
	}
	for _, e := range list {
		if IsProgram(e.Name()) && isFile(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names
}

// Install is where the programs of an installation lie.
//
//	root/hearth                          → hearth-versions/current/hearth
//	root/hearth-versions/current         → 0.2.0
//	root/hearth-versions/0.2.0/hearth
//	root/hearth-versions/0.1.0/hearth      the one before
//
// As it was unpacked, root/hearth and its neighbours are files; the first update
// makes links of them.
type Install struct {
	Root string
	// Version is the folder that the program which asked lies in, "" when it lies in
	// Root.
	Version string
	system  string // as runtime.GOOS
}

// At is the installation that a program belongs to; exe is its own file, links
// followed.
func At(exe string) Install {
	dir := filepath.Dir(exe)
	if up := filepath.Dir(dir); filepath.Base(up) == versions {
		return Install{Root: filepath.Dir(up), Version: filepath.Base(dir), system: runtime.GOOS}
	}
	return Install{Root: dir, system: runtime.GOOS}
}

// Lasting is the path of a program that stays when it is updated: what a service or a
// login starts.
func Lasting(exe string) string {
	i := At(exe)
	if link := filepath.Join(i.Root, filepath.Base(exe)); i.Version != "" && isFile(link) {
		return link
	}
	return exe
}

func (i Install) folder(parts ...string) string {
	return filepath.Join(append([]string{i.Root, versions}, parts...)...)
}

func (i Install) name(program string) string {
	if i.system == "windows" {
		return program + ".exe"
	}
	return program
}

// Program is a program of a version.
func (i Install) Program(version, program string) string { return i.folder(version, i.name(program)) }

// Has reports whether a version is there whole.
func (i Install) Has(version string) bool {
	return ValidVersion(version) && isFile(i.Program(version, "hearth"))
}

// Current is the version that is used, "" when no link says so.
func (i Install) Current() string {
	if i.system == "windows" {
		return i.noted()
	}
	to, err := os.Readlink(i.folder(current))
	if err != nil || filepath.Base(to) != to {
		return ""
	}
	return to
}

// Kind is which archive replaces all programs of the installation.
func (i Install) Kind() string {
	for _, p := range []string{"hearth-tray", "hearth-window"} {
		if isFile(filepath.Join(i.Root, i.name(p))) {
			return KindDesktop
		}
	}
	return KindGateway
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// NotOurs: the files belong to something that updates them itself.
type NotOurs struct {
	Owner  string // "Debian's package manager"
	Advice string // what to run
}

func (e *NotOurs) Error() string {
	return fmt.Sprintf("this Hearth was installed by %s, which also updates it: %s", e.Owner, e.Advice)
}

// Updatable reports whether this program may replace the files: nil, a *NotOurs, or
// why not.
func (i Install) Updatable(env func(string) string) error {
	if o := i.owner(env); o != nil {
		return o
	}
	if i.system == "windows" && env("HEARTH_UPDATE_ON_WINDOWS") != "1" { // nobody has seen it work there
		return &NotOurs{"its installer or an archive", "on Windows a new version is installed over the old one, by its installer or the " +
			"archive; nothing that you have is lost"}
	}
	f, err := os.CreateTemp(i.Root, ".hearth-update-*")
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) { // the name of a file that was only tried says nothing to anybody
			err = p.Err
		}
		return fmt.Errorf("the folder %s cannot be written (%w), so the programs in it cannot be replaced; let whoever installed Hearth "+
			"update it, or unpack the archive into a folder of yours", i.Root, err)
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	return nil
}

// owner finds out who else updates the files. Nothing is started for it: a program
// of that name on somebody's path has no say.
func (i Install) owner(env func(string) string) *NotOurs {
	root := filepath.ToSlash(i.Root)
	switch {
	case env("FLATPAK_ID") != "" || isFile("/.flatpak-info"):
		return &NotOurs{"Flatpak", "flatpak update"}
	case env("APPIMAGE") != "":
		return &NotOurs{"an AppImage", "download the new AppImage"}
	case strings.HasPrefix(root, "/nix/store/"):
		return &NotOurs{"Nix", "update the flake or channel that it came from, then rebuild"}
	case strings.HasPrefix(root, "/snap/"):
		return &NotOurs{"snap", "snap refresh hearth"}
	case strings.Contains(root, "/Cellar/") || strings.Contains(root, "/linuxbrew/"):
		return &NotOurs{"Homebrew", "brew upgrade hearth"}
	case strings.Contains(strings.ToLower(root), "/scoop/apps/"):
		return &NotOurs{"Scoop", "scoop update hearth"}
	case strings.Contains(root, "/WinGet/Packages/"):
		return &NotOurs{"winget", "winget upgrade hearth"}
	case strings.Contains(root, ".app/Contents/"):
		return &NotOurs{"an image for macOS", "open the new image and drag Hearth into Applications"}
	case isFile("/.dockerenv") && (root == "/" || root == "/usr/bin" || root == "/usr/local/bin" || root == "/app"):
		return &NotOurs{"the image of this container", "pull the new image and start the container anew"}
	case owned("/", filepath.Join(i.Root, i.name("hearth"))):
		return &NotOurs{"Debian's package manager", "sudo apt upgrade hearth"}
	case root == "/usr/bin" || root == "/bin" || root == "/usr/sbin":
		return &NotOurs{"the system's package manager", "update the package hearth as you update your other programs"}
	}
	return nil
}

// owned reports whether dpkg's lists below a root name the file as one of a package.
func owned(root, file string) bool {
	lists, _ := filepath.Glob(filepath.Join(root, "var/lib/dpkg/info/hearth*.list"))
	for _, l := range lists {
		b, err := os.ReadFile(l)
		if err == nil && slices.Contains(strings.Split(string(b), "\n"), file) {
			return true
		}
	}
	return false
}

// adopt gives the version that was unpacked into Root its folder, from which entries
// then makes links. Done again after any step it goes on; every program is the same
// one at every moment.
func (i Install) adopt(version string) error {
	if i.system == "windows" {
		if i.Current() == version && i.Has(version) {
			return nil
		}
	} else if st, err := os.Lstat(filepath.Join(i.Root, i.name("hearth"))); err == nil && !st.Mode().IsRegular() && i.Current() != "" {
		return nil
	}
	if !ValidVersion(version) {
		return fmt.Errorf("this build calls itself %q, which is no version that an update could go back to; install a release by hand first",
			version)
	}
	tmp := i.folder(".new-" + version)
	if !i.Has(version) {
		if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o755)); err != nil {
			return err
		}
		for _, name := range programsIn(i.Root) {
			if err := second(filepath.Join(i.Root, name), filepath.Join(tmp, name)); err != nil {
				return err
			}
		}
		if err := errors.Join(statedir.SyncDir(tmp), os.Rename(tmp, i.folder(version)), statedir.SyncDir(i.folder())); err != nil {
			return err
		}
	}
	failpoint.Hit("update:adopted")
	return i.point(version)
}

// second gives a file a second name, or makes a copy where that is not possible.
func second(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// point makes a version the one that is used.
func (i Install) point(version string) error {
	if i.system == "windows" {
		return i.note(version)
	}
	if err := relink(i.folder(current), version); err != nil {
		return fmt.Errorf("switch to %s: %w", version, err)
	}
	return nil
}

// relink replaces a link in one step.
func relink(link, to string) error {
	if at, err := os.Readlink(link); err == nil && at == to {
		return nil
	}
	tmp := link + ".next"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(to, tmp); err != nil {
		return err
	}
	failpoint.Hit("update:link")
	return errors.Join(os.Rename(tmp, link), statedir.SyncDir(filepath.Dir(link)))
}

// Ready makes room for another version beside from, which is the one that is used:
// where it still lies in Root as files, it gets its folder.
func (i Install) Ready(from, to string) error {
	if !i.Has(to) {
		return fmt.Errorf("switch to %s: it is not there", to)
	}
	if err := i.adopt(from); err != nil {
		return fmt.Errorf("make room for versions beside each other: %w", err)
	}
	if err := i.entries(i.Current()); err != nil {
		return fmt.Errorf("make links to the version that is used: %w", err)
	}
	return nil
}

// Switch makes another version the one that is used. from is the one that is.
func (i Install) Switch(from, to string) error {
	if err := i.Ready(from, to); err != nil {
		return err
	}
	failpoint.Hit("update:switch")
	if err := i.point(to); err != nil {
		return err
	}
	failpoint.Hit("update:switched")
	return i.entries(to)
}

// entries are the links in Root to the programs of the version that is used.
func (i Install) entries(version string) error {
	for _, name := range programsIn(i.folder(version)) {
		if i.system == "windows" {
			if err := i.exchange(name, version); err != nil {
				return fmt.Errorf("put %s %s in its place: %w", name, version, err)
			}
			continue
		}
		if err := relink(filepath.Join(i.Root, name), filepath.Join(versions, current, name)); err != nil {
			return err
		}
		failpoint.Hit("update:entry")
	}
	return statedir.SyncDir(i.Root)
}

// Keep removes every version but those named, and what an update left half.
func (i Install) Keep(keep ...string) error {
	list, err := os.ReadDir(i.folder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	keep = append(keep, i.Current())
	var errs []error
	for _, e := range list {
		if strings.HasPrefix(e.Name(), aside) {
			_ = os.Remove(i.folder(e.Name())) // it may still run
		}
		if e.IsDir() && !slices.Contains(keep, e.Name()) && (ValidVersion(e.Name()) || strings.HasPrefix(e.Name(), ".new-")) {
			errs = append(errs, os.RemoveAll(i.folder(e.Name())))
		}
	}
	return errors.Join(errs...)
}

// Return makes an older version the one that is used again. Where the switch had not
// come that far, nothing is to be done.
func (i Install) Return(version string) error {
	if i.Current() == "" {
		return nil
	}
	if !i.Has(version) {
		return fmt.Errorf("go back to %s: it is not there", version)
	}
	return errors.Join(i.point(version), i.entries(version))
}
