package workspace

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

//go:embed starters/*.md
var starters embed.FS

// Seed puts the starters into a folder, which it makes. What is there already
// is never touched. A folder that holds none of the files is a new one: only
// there the assistant is asked to introduce itself.
func Seed(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("the workspace %q is not an absolute path; set agents.defaults.workspace", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the workspace: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	fresh := true
	for _, name := range Names() {
		if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			fresh = false
		}
	}
	if !fresh {
		return nil // what is gone was taken away by somebody
	}
	for _, name := range Names() {
		text, err := starters.ReadFile(path.Join("starters", name))
		if err != nil {
			continue // MEMORY.md begins with the first memory
		}
		if err := create(root, name, text); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// Starter is what a file of a new workspace begins as; ok is false where it begins
// with nothing.
func Starter(name string) (text []byte, ok bool) {
	text, err := starters.ReadFile(path.Join("starters", name))
	return text, err == nil
}

// create writes a file that is not there.
func create(root *os.Root, name string, text []byte) (err error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	_, err = f.Write(text)
	return err
}
