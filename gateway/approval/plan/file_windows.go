package plan

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// systemOwned: the folders that Windows itself protects.
func systemOwned(path string) bool {
	clean := strings.ToLower(filepath.Clean(path))
	for _, folder := range []string{`c:\windows\system32`, `c:\windows`, `c:\program files`, `c:\program files (x86)`} {
		if clean == folder || strings.HasPrefix(clean, folder+`\`) {
			return true
		}
	}
	return false
}

func executable(string, fs.FileInfo) bool { return true }

// candidates: .bat and .cmd are found as well, and doubted, see program.
func candidates(path string) []string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".exe", ".com", ".bat", ".cmd":
		return []string{path}
	}
	return []string{path + ".com", path + ".exe", path + ".bat", path + ".cmd"}
}

func open(path string) (*os.File, error) { return os.Open(path) }
