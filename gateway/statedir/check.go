package statedir

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Tighten makes the files of the folder private again, where a restore or
// another program opened them to others, and names those that were. Settings
// are left alone: they are the person's file, and have a warning of their own.
func (d Dir) Tighten() (fixed []string, err error) {
	loose, err := d.Loose()
	if err != nil {
		return nil, err
	}
	for _, name := range loose {
		info, err := os.Lstat(d.path(name))
		if err != nil || !private(name, info) {
			continue // it has changed meanwhile
		}
		if err := os.Chmod(d.path(name), info.Mode().Perm()&^0o077); err != nil {
			return fixed, err
		}
		fixed = append(fixed, name)
	}
	return fixed, nil
}

// Loose names the files of ours that others can use.
func (d Dir) Loose() (names []string, err error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	files, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && private(f.Name(), info) {
			names = append(names, f.Name())
		}
	}
	return names, nil
}

// private: a file of ours that others can use.
func private(name string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
		return false
	}
	for _, p := range []string{"hearth.db", "gateway.", "device.key", "secrets."} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// Synced names the service that copies the folder to other machines; "" when
// none is known to.
func (d Dir) Synced() string {
	real, err := filepath.EvalSymlinks(string(d))
	if err != nil {
		real = string(d)
	}
	for _, part := range slices.Concat(strings.Split(filepath.ToSlash(string(d)), "/"), strings.Split(filepath.ToSlash(real), "/")) {
		switch p := strings.ToLower(part); {
		case p == "dropbox" || strings.HasPrefix(p, "dropbox ("):
			return "Dropbox"
		case p == "onedrive" || strings.HasPrefix(p, "onedrive -") || strings.HasPrefix(p, "onedrive-"):
			return "OneDrive"
		case p == "google drive" || p == "googledrive" || strings.HasPrefix(p, "googledrive-") || p == "my drive":
			return "Google Drive"
		case p == "mobile documents" || p == "com~apple~clouddocs" || p == "icloud drive" || p == "iclouddrive":
			return "iCloud"
		case p == "nextcloud" || p == "owncloud":
			return "Nextcloud"
		case p == "cloudstorage": // macOS: ~/Library/CloudStorage
			return "a cloud drive"
		}
	}
	return ""
}
