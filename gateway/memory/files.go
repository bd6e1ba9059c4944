package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/safepath"
)

const (
	// Folder is where notes are, below the workspace.
	Folder = "memory"
	// LongTerm is the file that a person keeps by hand.
	LongTerm = "MEMORY.md"

	dayForm = "2006-01-02" // of a day's notes

	maxFiles = 20_000
	maxDepth = 8
)

var (
	// ErrNotMemory: the path is not that of a memory file, or of somebody else's.
	ErrNotMemory = errors.New("this is not one of your memory files: those are MEMORY.md and the .md files below memory/")
	// ErrNoFile: there is no such memory file.
	ErrNoFile = errors.New("there is no such memory file")
	// ErrNoWorkspace: there is no folder to remember in.
	ErrNoWorkspace = errors.New("the workspace folder is not there yet")
)

// Scope is whose memory is meant.
type Scope struct {
	Agent string
	Of    string // from Person or Group; "" = the owner
	// All: everybody's, for the owner who looks after it. Never for a model.
	All bool
}

// Person is whose notes those about somebody are who is not the owner.
func Person(surface, id string) string { return "people/" + folderName(surface+":"+id) }

// Group is whose notes those of a conversation of several people are.
func Group(key string) string { return "groups/" + folderName(key) }

// folderName is readable, safe as a file's name, and never the same for two.
func folderName(whole string) string {
	sum := sha256.Sum256([]byte(whole))
	var b strings.Builder
	for _, r := range strings.ToLower(whole) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 40 {
			break
		}
	}
	return strings.Trim(b.String(), "-") + "-" + hex.EncodeToString(sum[:4])
}

// folder is where the scope's notes of the day go.
func (s Scope) folder() string {
	if s.Of != "" {
		return Folder + "/" + s.Of
	}
	return Folder
}

// Has reports whether a file, named from the workspace on, is of the scope.
func (s Scope) Has(rel string) bool {
	if !isMemory(rel) {
		return false
	}
	return s.All || whose(rel) == s.Of
}

// whose file it is, "" for the owner's. Case does not matter: to some file
// systems it does not either.
func whose(rel string) string {
	parts := strings.SplitN(rel, "/", 4)
	if len(parts) < 4 {
		return "" // the owner's own notes about people
	}
	if kind := strings.ToLower(parts[1]); kind == "people" || kind == "groups" {
		return kind + "/" + parts[2]
	}
	return ""
}

// isMemory reports whether a clean relative path is one of a memory file.
func isMemory(rel string) bool {
	if rel == LongTerm || rel == "memory.md" {
		return true
	}
	if !strings.HasPrefix(rel, Folder+"/") || path.Clean(rel) != rel || strings.ContainsAny(rel, "\\\x00") {
		return false
	}
	parts := strings.Split(rel, "/")
	for _, p := range parts {
		if strings.HasPrefix(p, ".") {
			return false
		}
	}
	return len(parts) <= maxDepth && strings.HasSuffix(strings.ToLower(rel), ".md")
}

// found is a memory file as a folder lists it.
type found struct {
	rel   string
	size  int64
	mtime time.Time
}

// list finds the memory files of a workspace, the owner's first. It follows no
// link and opens no file. A workspace that is not there has none.
func list(ctx context.Context, workspace string) (out []found, err error) {
	var others []found // have their own limit: they must not crowd the owner's out
	root, err := os.OpenRoot(workspace)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	top, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("list the workspace: %w", err)
	}
	for _, d := range top { // by the names that are there: some systems know no case
		if d.Name() == LongTerm || d.Name() == "memory.md" {
			out = appendFound(out, d.Name(), d)
		}
	}
	err = fs.WalkDir(root.FS(), Folder, func(rel string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && rel == Folder && errors.Is(err, fs.ErrNotExist):
			return fs.SkipAll
		case err != nil:
			return nil // what cannot be listed is not remembered; the rest is
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && rel != Folder && strings.HasPrefix(d.Name(), "."), d.IsDir() && strings.Count(rel, "/") >= maxDepth:
			return fs.SkipDir
		case !isMemory(rel):
		case whose(rel) == "" && len(out) < maxFiles:
			out = appendFound(out, rel, d)
		case whose(rel) != "" && len(others) < maxFiles:
			others = appendFound(others, rel, d)
		}
		return nil
	})
	return append(out, others...), err
}

func appendFound(out []found, rel string, d fs.DirEntry) []found {
	if !d.Type().IsRegular() {
		return out
	}
	st, err := d.Info()
	if err != nil {
		return out // gone in this moment
	}
	return append(out, found{rel, st.Size(), st.ModTime()})
}

// find is the place of a memory file, by the one name that it has: a link leads
// nowhere here.
func (x *Index) find(agent, rel string) (*safepath.Path, error) {
	ws := x.Workspace(agent)
	if st, err := os.Stat(ws); err != nil || !st.IsDir() {
		return nil, ErrNoWorkspace
	}
	p, err := x.Finder.Find(ws, rel)
	if err != nil {
		return nil, err
	}
	if !p.Inside || p.Rel != rel {
		p.Close()
		return nil, ErrNotMemory
	}
	if v, why := p.Judge(false); v == safepath.Never {
		p.Close()
		return nil, fmt.Errorf("%w: %s", ErrNotMemory, why)
	}
	return p, nil
}

// open opens a memory file for reading.
func (x *Index) open(agent, rel string) (*os.File, fs.FileInfo, error) {
	p, err := x.find(agent, rel)
	if err != nil {
		return nil, nil, err
	}
	defer p.Close()
	f, st, err := p.Open()
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoFile
	}
	return f, st, err
}

// clean is a path as it is asked for, when it is of the scope.
func (s Scope) clean(rel string) (string, error) {
	rel = strings.TrimPrefix(strings.TrimSpace(rel), "./")
	if !s.Has(rel) {
		return "", ErrNotMemory
	}
	return rel, nil
}
