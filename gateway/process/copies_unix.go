//go:build linux || darwin

package process

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/process/pinned"
)

const maxCopies = 16

func copiedOf(all []Copy) []copied {
	out := make([]copied, len(all))
	for i, c := range all {
		out[i] = copied{Names: c.names(), Links: map[string]string{}}
		for _, n := range out[i].Names {
			out[i].Folders = append(out[i].Folders, pinned.FolderOf(filepath.Dir(n)))
			if !strings.Contains(n, "..") { // that is the kernel's to follow
				steps(n, out[i].Links)
			}
		}
	}
	return out
}

// steps notes the links on the way to a file, and what is none.
func steps(path string, into map[string]string) {
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		if _, known := into[path]; known {
			continue
		}
		into[path] = ""
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
			into[path], _ = filepath.EvalSymlinks(path)
		}
	}
}

// compare is the last look at the files, where they cannot be pinned.
func compare(j job) error {
	for i, c := range j.Copies {
		want, err := io.ReadAll(io.NewSectionReader(os.NewFile(uintptr(fdCopies+i), "copy"), 0, 1<<40))
		if err != nil {
			return fmt.Errorf("read what was approved: %w", err)
		}
		for _, n := range c.Names {
			if err := same(n, want); err != nil {
				return err
			}
		}
	}
	return nil
}
