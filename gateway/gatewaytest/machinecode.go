package gatewaytest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/codemode/engine"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// machineCode is that of the engine of code mode, compiled once for all tests of a package.
var machineCode struct {
	sync.Once
	files map[string][]byte
	err   error
}

// CompileScripts puts the machine code of the engine of code mode into a state
// folder, before the gateway starts on it. With the race detector on, compiling
// it takes longer than a script or a test may, and each folder would pay again.
func CompileScripts(t testing.TB, dir statedir.Dir) {
	t.Helper()
	m := &machineCode
	m.Do(func() { m.files, m.err = compileEngine(context.WithoutCancel(t.Context())) })
	if m.err != nil {
		t.Fatal(m.err)
	}
	for rel, raw := range m.files {
		path := filepath.Join(dir.CodeCache(), rel)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// compileEngine is the files of the engine's cache by their names in it.
func compileEngine(ctx context.Context) (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "hearth-engine-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	e := engine.New(engine.Options{CacheDir: dir})
	if err := e.Warm(ctx); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	return files, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		files[rel], err = os.ReadFile(path)
		return err
	})
}
