package handler

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/skill"
)

// Limits of a folder. What is beyond them is no handler.
const (
	maxFolders = 500 // looked at in one place
	maxFiles   = 200
	maxBytes   = 4 << 20
	maxDeep    = 6
)

// Places are where handlers are looked for.
type Places struct {
	Managed string   // the owner's folder of them
	Extra   []string // more such folders, or folders of one; later ones win
	// Workspaces are the assistants' folders by the id of the assistant.
	Workspaces map[string]string
	Bundled    []skill.Hook // parts of Hearth
}

// file is a file of a handler, as it was read.
type file struct {
	name string // within its folder, with slashes
	exec bool
	data []byte
}

// Find lists the handlers, by name. What the owner put into a folder for all takes
// the place of a part of Hearth; what lies in a workspace takes nobody's.
func (p Places) Find() []Handler {
	var all []Handler
	put := func(h Handler, wins bool) {
		i := slices.IndexFunc(all, func(o Handler) bool {
			return same(o.Name, h.Name) && (o.Source != Workspace || h.Source != Workspace || o.Agent == h.Agent)
		})
		switch {
		case i < 0:
			all = append(all, h)
		case wins:
			all[i] = h
		}
	}
	for _, b := range p.Bundled {
		put(Handler{Hook: b, Source: Bundled, Form: Builtin}, false)
	}
	for _, dir := range append(slices.Clone(p.Extra), p.Managed) {
		for _, h := range below(dir) {
			h.Source = Managed
			put(h, true)
		}
	}
	ids := make([]string, 0, len(p.Workspaces))
	for id := range p.Workspaces {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		for _, h := range below(filepath.Join(p.Workspaces[id], "hooks")) {
			h.Source, h.Agent = Workspace, id
			put(h, false)
		}
	}
	return all
}

// below reads the handlers of a folder, or the one that the folder is.
func below(dir string) (out []Handler) {
	if dir == "" {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	if _, err := root.Lstat(skill.HookFile); err == nil {
		return []Handler{read(root, dir)}
	}
	d, err := root.Open(".")
	if err != nil {
		return nil
	}
	defer d.Close()
	entries, _ := d.ReadDir(maxFolders)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		sub, err := root.OpenRoot(e.Name())
		if err != nil {
			continue
		}
		if _, err := sub.Lstat(skill.HookFile); err == nil {
			out = append(out, read(sub, filepath.Join(dir, e.Name())))
		}
		sub.Close()
	}
	return out
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// read reads one folder whole: what is run later is what is read here.
func read(root *os.Root, dir string) Handler {
	h := Handler{Dir: dir}
	h.Name = filepath.Base(dir)
	h.Key = h.Name
	var err error
	if h.files, err = readAll(root); err != nil {
		h.Problem = err.Error()
		return h
	}
	h.SHA256 = digest(h.files)
	i := slices.IndexFunc(h.files, func(f file) bool { return f.name == skill.HookFile })
	if i < 0 {
		h.Problem = "its " + skill.HookFile + " is no ordinary file"
		return h
	}
	hook, err := skill.ParseHook(h.files[i].data, h.Name)
	if err != nil {
		h.Problem = err.Error()
		return h
	}
	h.Hook = hook
	if h.File, h.Form = h.entry(); h.Form == "" {
		h.Problem = "it has nothing that can be run: put a program handler, handler.sh or handler.py, or a script handler.js or handler.ts, " +
			"beside its " + skill.HookFile
	}
	return h
}

// entry finds what is run: a program before a script, which other gateways run.
func (h *Handler) entry() (name string, form Form) {
	has := func(name string) (f file, ok bool) {
		i := slices.IndexFunc(h.files, func(f file) bool { return f.name == name })
		if i < 0 {
			return f, false
		}
		return h.files[i], true
	}
	programs := []string{"handler", "handler.sh", "handler.py"}
	if runtime.GOOS == "windows" {
		programs = []string{"handler.exe", "handler.py"}
	}
	for _, name := range programs {
		if f, ok := has(name); ok && (f.exec || name != "handler" || runtime.GOOS == "windows") {
			return name, Program
		}
	}
	for _, name := range []string{"handler.ts", "handler.js", "index.ts", "index.js"} {
		if _, ok := has(name); ok {
			return name, Script
		}
	}
	return "", ""
}

// readAll reads all files of a folder. A link leads somewhere that the owner did
// not see, so there may be none.
func readAll(root *os.Root) (out []file, err error) {
	left := int64(maxBytes)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("it cannot be read: %w", bare(err))
		case d.IsDir():
			if deep(name) > maxDeep {
				return fmt.Errorf("its folders are nested deeper than %d", maxDeep)
			}
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is a link or no ordinary file, and those are not followed", name)
		case len(out) >= maxFiles:
			return fmt.Errorf("it has more than %d files", maxFiles)
		}
		f, err := readOne(root, name, left)
		if err != nil {
			return err
		}
		left -= int64(len(f.data))
		out = append(out, f)
		return nil
	})
	return out, err
}

func deep(name string) (n int) {
	for ; name != "." && name != "/"; name = path.Dir(name) {
		n++
	}
	return n
}

func readOne(root *os.Root, name string, left int64) (file, error) {
	in, err := root.Open(name)
	if err != nil {
		return file{}, fmt.Errorf("%s cannot be read: %w", name, bare(err))
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return file{}, fmt.Errorf("%s is no ordinary file", name)
	}
	data, err := io.ReadAll(io.LimitReader(in, left+1))
	switch {
	case err != nil:
		return file{}, fmt.Errorf("%s cannot be read: %w", name, bare(err))
	case int64(len(data)) > left:
		return file{}, fmt.Errorf("its files are larger than %d MB together", maxBytes>>20)
	}
	return file{name: name, exec: info.Mode()&0o111 != 0, data: data}, nil
}

// bare takes the path out of an error.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// digest is of the names, the rights and the contents of files.
func digest(files []file) string {
	sum := sha256.New()
	for _, f := range files { // in the order of their names, as they were walked
		fmt.Fprintf(sum, "%d:%s %t %d\n", len(f.name), f.name, f.exec, len(f.data))
		sum.Write(f.data)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
