package safepath

import (
	"path/filepath"
	"slices"
	"strings"
)

// leastDepth is how many names a folder outside of the home has at least before
// one yes may be about all of it: /mnt/disk/photos, not /mnt/disk.
const leastDepth = 3

// Folder is the folder that one yes to read may be about: the one that the file
// is in, or the path itself when it is a folder. It is "" where every file is
// asked for by itself: in the workspace, where nothing is asked; for what is
// hidden, holds keys or is obeyed by programs; and in a folder that is too wide
// or not for a person's files: a home, what is above it, the system's folders,
// other people's homes, and what is less than three names deep elsewhere.
func (p *Path) Folder() string {
	if v, _ := p.Judge(false); p.Inside || v != Ask || len(p.missing) > 0 {
		return ""
	}
	names := fold(p.Path)
	if hidden(p.Path, names) || protected(names) || keyFile(names[len(names)-1]) {
		return ""
	}
	dir := p.Path
	if st, err := p.Stat(); err != nil || st == nil || !st.IsDir() {
		dir = filepath.Dir(p.Path)
	}
	if !narrow(dir, p.home) {
		return ""
	}
	return dir
}

// narrow reports whether a folder without links is one that a person keeps
// files in, and not more than that.
func narrow(dir, home string) bool {
	if real, err := filepath.EvalSymlinks(home); home != "" && err == nil {
		home = real
	}
	if home != "" && filepath.Dir(home) != home {
		if _, above := below(home, dir); above {
			return false // the home itself, or a folder that holds it
		}
		if rel, ok := below(dir, home); ok {
			// Where programs keep what they know of a person.
			return !slices.Contains([]string{"library", "appdata", "snap"}, fold(rel)[0])
		}
	}
	names := fold(strings.TrimPrefix(dir, filepath.VolumeName(dir)))
	return len(names) >= leastDepth && !slices.Contains(systemFolders(), names[0])
}

// systemFolders are those at the top that belong to the system, to all of its
// users at once, or hold the homes of other people.
func systemFolders() []string {
	return []string{
		"bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "lost+found", "nix", "opt", "proc", "root", "run",
		"sbin", "snap", "sys", "tmp", "usr", "var", "applications", "library", "network", "private", "system", "users", "cores",
		"$recycle.bin", "documents and settings", "program files", "program files (x86)", "programdata", "recovery",
		"system volume information", "windows",
	}
}

// hidden reports names that a person is not shown: on the way to the file, or
// its own. A short name of Windows hides what the long one says.
func hidden(path string, names []string) bool {
	short := func(n string) bool { return filepath.Separator == '\\' && strings.Contains(n, "~") }
	odd := func(n string) bool { return strings.HasPrefix(n, ".") || n == "" || short(n) }
	rest := strings.TrimPrefix(path, filepath.VolumeName(path))
	return slices.ContainsFunc(strings.Split(strings.Trim(filepath.ToSlash(rest), "/"), "/"), odd) ||
		slices.ContainsFunc(names, odd)
}

// keyFile reports files that hold keys, by how they end.
func keyFile(base string) bool {
	return slices.ContainsFunc([]string{
		".pem", ".key", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx", ".kdb", ".keychain", ".keychain-db", ".ovpn", ".asc", ".gpg",
		".env", ".wallet",
	}, func(end string) bool { return strings.HasSuffix(base, end) })
}
