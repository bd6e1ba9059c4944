package imports

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/imports"
	"github.com/hearth-assistant/hearth/gateway/safepath"
	"github.com/hearth-assistant/hearth/gateway/undo"
	"github.com/hearth-assistant/hearth/gateway/workspace"
)

const (
	maxPath    = 240
	maxCompare = 32 << 20
)

// claimed is what only Hearth's own notes say: where they come from.
var claimed = regexp.MustCompile(`(?i)<!--(\s*)hearth(\s*):`)

// file takes a file into its agent's workspace. What stands there already and was
// not imported stays; the other lies beside it.
func (w *walk) file(ctx context.Context, it imports.Item) (outcome, error) {
	rel, err := w.target(it.File)
	if err != nil {
		return nothing, err
	}
	data := it.File.Data
	if it.Kind == imports.Memory {
		data = claimed.ReplaceAll(data, []byte("<!--${1}imported hearth${2}:"))
	}
	hash := digest(string(data))
	rec, known, err := w.recorded(it)
	if err != nil || known && rec.Hash == hash {
		return already, err
	}
	dir := w.Agents.Named(w.agent(it.File.Agent)).Workspace
	if known {
		rel = rec.Path
	}
	aside := false
	for {
		got, err := w.put(ctx, dir, rel, data, rec.Hash)
		if errors.Is(err, errTheirs) && !aside {
			rel, aside = beside(w.from, it, rel), true
			continue
		}
		if errors.Is(err, errTheirs) {
			return nothing, leave("yours is another one, and so is the copy beside it (%s)", rel)
		}
		if err != nil {
			return nothing, err
		}
		if known {
			got = grown
		}
		if aside && got == fresh {
			w.note("Files that you have already stay as they are; the imported ones lie beside them, below imported/%[1]s and "+
				"memory/imported/%[1]s of the workspace.", w.from)
		}
		if w.task == "" {
			return got, nil
		}
		return got, w.record(ctx, it, record{Path: rel, Hash: hash})
	}
}

// target is where a file goes. Names that people cannot see through go nowhere.
func (w *walk) target(f *imports.File) (string, error) {
	if !fs.ValidPath(f.Path) || len(f.Path) > maxPath || imports.Line(f.Path, maxPath) != f.Path || strings.ContainsAny(f.Path, `\:*?"<>|`) {
		return "", leave("its name has signs that cannot be seen, or that some systems refuse")
	}
	if _, ok := w.Agents.Book().Get(f.Agent); f.Agent != "" && !ok {
		return path.Join("imported", w.from, imports.ServerName(f.Agent), f.Path), nil
	}
	return f.Path, nil
}

// beside is where a file goes whose place is taken.
func beside(from string, it imports.Item, rel string) string {
	if it.Kind == imports.Memory {
		return path.Join("memory/imported", from, strings.TrimPrefix(rel, "memory/"))
	}
	return path.Join("imported", from, rel)
}

// errTheirs: another file is in this place.
var errTheirs = errors.New("another file is there")

// put writes a file, unless one is there that is neither a starter of ours nor the
// one that was imported before.
func (w *walk) put(ctx context.Context, dir, rel string, data []byte, before string) (outcome, error) {
	p, err := w.Files.Find(dir, filepath.FromSlash(rel))
	if err != nil {
		return nothing, leave("%v", err)
	}
	defer p.Close()
	if v, why := p.Judge(true); v == safepath.Never || !p.Inside {
		return nothing, leave("it is not written, because %s", why)
	}
	old, info, err := contents(p)
	if err != nil {
		return nothing, leave("what is in its place cannot be read: %v", err)
	}
	change := undo.Change{Path: p.Path, Folders: p.Missing(), After: &undo.Content{Data: data, Mode: 0o644}}
	if info != nil {
		starter, ours := workspace.Starter(rel)
		switch {
		case bytes.Equal(old, data):
			return already, nil
		case !(ours && bytes.Equal(old, starter)) && (before == "" || digest(string(old)) != before):
			return nothing, errTheirs
		}
		change.Before, change.After.Mode = &undo.Content{Data: old, Mode: info.Mode().Perm()}, info.Mode().Perm()
	}
	if w.task == "" {
		return fresh, nil
	}
	turn := undo.Turn{RunID: w.task, Tool: "import", Aside: true}
	if err := w.Undo.Keep(ctx, turn, []undo.Change{change}); err != nil {
		return nothing, err
	}
	if err := p.Replace(data, change.After.Mode, info); err != nil {
		return nothing, err
	}
	w.note("`hearth undo %s` takes the files back.", w.task)
	return fresh, nil
}

// contents are those of a file, nil where there is none.
func contents(p *safepath.Path) ([]byte, fs.FileInfo, error) {
	f, info, err := p.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxCompare))
	return data, info, err
}
